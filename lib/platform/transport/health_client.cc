// SPDX-License-Identifier: Apache-2.0
#include "platform/transport/health_client.h"

#include <grpcpp/client_context.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/support/byte_buffer.h>

#include <future>
#include <string>
#include <vector>

#include "platform/transport/status.h"

namespace shoal::transport {
namespace {

std::string Flatten(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  std::string bytes;
  if (!buffer.Dump(&slices).ok()) return bytes;
  for (const grpc::Slice& slice : slices) {
    bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return bytes;
}

}  // namespace

absl::Status CheckHealth(const std::shared_ptr<grpc::Channel>& channel, runtime::Duration timeout) {
  grpc::GenericStub stub(channel);
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() +
                       std::chrono::duration_cast<std::chrono::microseconds>(timeout));
  // HealthCheckRequest with an empty service name has no bytes; HealthCheckResponse is its field 1,
  // an enum in which 1 is SERVING.
  const grpc::Slice empty("", 0);
  const grpc::ByteBuffer request(&empty, 1);
  grpc::ByteBuffer response;
  std::promise<grpc::Status> done;
  stub.UnaryCall(&context, "/grpc.health.v1.Health/Check", {}, &request, &response,
                 [&done](grpc::Status status) { done.set_value(std::move(status)); });
  SHOAL_RETURN_IF_ERROR(FromGrpc(done.get_future().get()));
  if (Flatten(response) != std::string("\x08\x01", 2)) return runtime::Unavailable("not serving");
  return absl::OkStatus();
}

}  // namespace shoal::transport
