// SPDX-License-Identifier: Apache-2.0
#include "platform/transport/server.h"

#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/server_builder.h>
#include <grpcpp/support/channel_arguments.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <string_view>
#include <utility>

namespace shoal::transport {
namespace {

constexpr std::string_view kUnixPrefix = "unix:";

int MostBytes(const ServerOptions& options) {
  return static_cast<int>(
      std::min<std::int64_t>(options.max_message_bytes, std::numeric_limits<int>::max()));
}

void SetArguments(const ServerOptions& options, grpc::ServerBuilder& builder) {
  const int limit = MostBytes(options);
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

absl::Status CannotListen(const std::string& address, const std::string& why) {
  return runtime::FailedPrecondition("cannot listen on " + address + ": " + why);
}

// gRPC would take the socket away from a server that is running.
absl::Status CheckSocketIsFree(const std::string& address) {
  const std::string path = address.substr(kUnixPrefix.size());
  sockaddr_un socket_address = {};
  socket_address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof socket_address.sun_path) {
    return runtime::InvalidArgument("listen address \"" + address +
                                    "\": the path of a socket has 1 to " +
                                    std::to_string(sizeof socket_address.sun_path - 1) + " bytes");
  }
  std::copy(path.begin(), path.end(), socket_address.sun_path);
  const int descriptor = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return CannotListen(address, std::strerror(errno));
  const bool served = ::connect(descriptor, reinterpret_cast<sockaddr*>(&socket_address),
                                sizeof socket_address) == 0;
  ::close(descriptor);
  return served ? CannotListen(address, "another process serves it") : absl::OkStatus();
}

absl::Status CheckAddress(const std::string& address) {
  if (address.starts_with(kUnixPrefix)) return CheckSocketIsFree(address);
  const std::size_t colon = address.rfind(':');
  if (colon != std::string::npos && colon + 1 < address.size()) return absl::OkStatus();
  return runtime::InvalidArgument("listen address \"" + address +
                                  "\" is neither host:port nor unix:PATH");
}

}  // namespace

absl::StatusOr<std::unique_ptr<Server>> Server::Create(
    const ServerOptions& options, const std::vector<grpc::Service*>& services) {
  SHOAL_RETURN_IF_ERROR(CheckAddress(options.listen));
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
  const bool is_unix = options.listen.starts_with(kUnixPrefix);
  if (server == nullptr || port == 0) {
    return CannotListen(options.listen,
                        is_unix ? "the path cannot be written"
                                : "the port is in use or the address is not of this host");
  }
  std::string address = options.listen;
  if (is_unix) {
    port = 0;
  } else {
    address.replace(address.rfind(':') + 1, std::string::npos, std::to_string(port));
  }
  std::unique_ptr<Server> created(new Server(std::move(address), port, MostBytes(options),
                                             std::move(fallback), std::move(server)));
  created->SetServing(false);
  return created;
}

Server::Server(std::string address, int port, int max_message_bytes,
               std::unique_ptr<grpc::CallbackGenericService> fallback,
               std::unique_ptr<grpc::Server> server)
    : address_(std::move(address)),
      port_(port),
      max_message_bytes_(max_message_bytes),
      fallback_(std::move(fallback)),
      server_(std::move(server)) {}

Server::~Server() { Shutdown(runtime::Duration::zero()); }

std::shared_ptr<grpc::Channel> Server::InProcessChannel() const {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(max_message_bytes_);
  arguments.SetMaxSendMessageSize(max_message_bytes_);
  return server_->InProcessChannel(arguments);
}

void Server::SetServing(bool serving) {
  server_->GetHealthCheckService()->SetServingStatus(serving);
}

void Server::Shutdown(runtime::Duration grace) {
  server_->Shutdown(std::chrono::system_clock::now() +
                    std::chrono::duration_cast<std::chrono::microseconds>(grace));
}

}  // namespace shoal::transport
