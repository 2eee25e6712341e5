// SPDX-License-Identifier: Apache-2.0
#include "platform/transport/server.h"

#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/server_builder.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace shoal::transport {
namespace {

void SetArguments(const ServerOptions& options, grpc::ServerBuilder& builder) {
  const int limit = static_cast<int>(
      std::min<std::int64_t>(options.max_message_bytes, std::numeric_limits<int>::max()));
  const Keepalive& keepalive = options.keepalive;
  builder.SetMaxReceiveMessageSize(limit);
  builder.SetMaxSendMessageSize(limit);
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS,
                             static_cast<int>(keepalive.server_time.count()));
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS,
                             static_cast<int>(keepalive.timeout.count()));
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
                             static_cast<int>(keepalive.least_interval.count()));
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Server>> Server::Create(
    const ServerOptions& options, const std::vector<grpc::Service*>& services) {
  const std::size_t colon = options.listen.rfind(':');
  if (colon == std::string::npos || colon + 1 == options.listen.size()) {
    return runtime::InvalidArgument("listen address \"" + options.listen + "\" is not host:port");
  }
  grpc::EnableDefaultHealthCheckService(true);
  grpc::ServerBuilder builder;
  SetArguments(options, builder);
  int port = 0;
  builder.AddListeningPort(
      options.listen, options.credentials ? options.credentials : grpc::InsecureServerCredentials(),
      &port);
  for (grpc::Service* service : services) builder.RegisterService(service);
  auto fallback = std::make_unique<grpc::CallbackGenericService>();
  builder.RegisterCallbackGenericService(fallback.get());
  std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr || port == 0) {
    return runtime::FailedPrecondition("cannot listen on " + options.listen +
                                       ": the port is in use or the address is not of this host");
  }
  std::string address = options.listen.substr(0, colon + 1) + std::to_string(port);
  std::unique_ptr<Server> created(
      new Server(std::move(address), port, std::move(fallback), std::move(server)));
  created->SetServing(false);
  return created;
}

Server::Server(std::string address, int port,
               std::unique_ptr<grpc::CallbackGenericService> fallback,
               std::unique_ptr<grpc::Server> server)
    : address_(std::move(address)),
      port_(port),
      fallback_(std::move(fallback)),
      server_(std::move(server)) {}

Server::~Server() { Shutdown(runtime::Duration::zero()); }

void Server::SetServing(bool serving) {
  server_->GetHealthCheckService()->SetServingStatus(serving);
}

void Server::Shutdown(runtime::Duration grace) {
  server_->Shutdown(std::chrono::system_clock::now() +
                    std::chrono::duration_cast<std::chrono::microseconds>(grace));
}

}  // namespace shoal::transport
