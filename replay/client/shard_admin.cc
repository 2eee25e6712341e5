// SPDX-License-Identifier: Apache-2.0
#include "replay/client/shard_admin.h"

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <utility>

#include "platform/transport/channel.h"
#include "platform/transport/status.h"
#include "proto/replay.grpc.pb.h"

namespace shoal::replay::client {
namespace {

// One unary call, which is under way until its status is taken.
template <typename Reply>
class Call {
 public:
  using Done = std::function<void(grpc::Status)>;

  // `start` starts the RPC on a stub of the shard at `address`.
  Call(const std::string& address, runtime::Duration timeout,
       const std::function<void(proto::Replay::Stub&, grpc::ClientContext*, Reply*, Done)>& start)
      : stub_(proto::Replay::NewStub(transport::CreateChannel(address))) {
    context_.set_deadline(std::chrono::system_clock::now() +
                          std::chrono::duration_cast<std::chrono::microseconds>(timeout));
    start(*stub_, &context_, &reply_,
          [this](grpc::Status status) { done_.set_value(std::move(status)); });
  }

  // Waits for the end of the call.
  absl::StatusOr<Reply> Take() {
    SHOAL_RETURN_IF_ERROR(transport::FromGrpc(done_.get_future().get()));
    return std::move(reply_);
  }

 private:
  const std::unique_ptr<proto::Replay::Stub> stub_;
  grpc::ClientContext context_;
  Reply reply_;
  std::promise<grpc::Status> done_;
};

// Starts the RPC on all shards, then waits for each.
template <typename Reply, typename Start>
std::vector<absl::StatusOr<Reply>> CallAll(std::span<const std::string> addresses,
                                           runtime::Duration timeout, const Start& start) {
  std::vector<std::unique_ptr<Call<Reply>>> calls;
  for (const std::string& address : addresses) {
    calls.push_back(std::make_unique<Call<Reply>>(address, timeout, start));
  }
  std::vector<absl::StatusOr<Reply>> answers;
  for (const auto& call : calls) answers.push_back(call->Take());
  return answers;
}

}  // namespace

std::vector<absl::StatusOr<proto::InfoReply>> AskShards(std::span<const std::string> addresses,
                                                        runtime::Duration timeout) {
  const proto::InfoRequest request;
  return CallAll<proto::InfoReply>(addresses, timeout,
                                   [&request](auto& stub, auto* context, auto* reply, auto done) {
                                     stub.async()->Info(context, &request, reply, std::move(done));
                                   });
}

std::vector<absl::StatusOr<proto::ConfigureReply>> ConfigureShards(
    std::span<const std::string> addresses, const std::string& table,
    std::span<const std::string> settings, runtime::Duration timeout) {
  proto::ConfigureRequest request;
  request.set_table(table);
  for (const std::string& setting : settings) request.add_settings(setting);
  return CallAll<proto::ConfigureReply>(
      addresses, timeout, [&request](auto& stub, auto* context, auto* reply, auto done) {
        stub.async()->Configure(context, &request, reply, std::move(done));
      });
}

std::vector<absl::StatusOr<proto::CheckpointReply>> CheckpointShards(
    std::span<const std::string> addresses, const std::string& learner_checkpoint,
    runtime::Duration timeout) {
  proto::CheckpointRequest request;
  request.set_learner_checkpoint(learner_checkpoint);
  return CallAll<proto::CheckpointReply>(
      addresses, timeout, [&request](auto& stub, auto* context, auto* reply, auto done) {
        stub.async()->Checkpoint(context, &request, reply, std::move(done));
      });
}

std::vector<absl::StatusOr<proto::ExcludeReply>> ExcludeFromShards(
    std::span<const std::string> addresses, const proto::ExcludeRequest& request,
    runtime::Duration timeout) {
  return CallAll<proto::ExcludeReply>(
      addresses, timeout, [&request](auto& stub, auto* context, auto* reply, auto done) {
        stub.async()->Exclude(context, &request, reply, std::move(done));
      });
}

}  // namespace shoal::replay::client
