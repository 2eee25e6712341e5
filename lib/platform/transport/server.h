// SPDX-License-Identifier: Apache-2.0
// A gRPC server on one address, with the standard health service.
//
//   SHOAL_ASSIGN_OR_RETURN(auto server,
//                          Server::Create({.listen = options.listen}, {service.get()}));
//   spdlog::info("event=listening address={}", server->address());
//   server->SetServing(true);
//
// Thread-safe. Shutdown goes in this order: SetServing(false), StreamRegistry::DrainAll,
// AwaitEmpty(grace), Shutdown(grace); then destroy the server, then its services.
#pragma once

#include <grpcpp/channel.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/impl/codegen/service_type.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "platform/runtime/clock.h"
#include "platform/runtime/status.h"
#include "platform/transport/keepalive.h"

namespace shoal::transport {

struct ServerOptions {
  // "host:port", where port 0 takes a free one, or "unix:PATH" for a socket in the file system,
  // which serves this machine alone.
  std::string listen = "127.0.0.1:0";
  // Larger messages end their stream with RESOURCE_EXHAUSTED; the server lives on.
  std::int64_t max_message_bytes = std::int64_t{64} << 20;
  Keepalive keepalive = {};
  // Null means no encryption.
  std::shared_ptr<grpc::ServerCredentials> credentials = nullptr;
};

class Server {
 public:
  // Listens and answers at once; health says NOT_SERVING until SetServing(true). Services are
  // borrowed and must outlive the server; without any it has only the health service.
  // INVALID_ARGUMENT when the address is neither host:port nor unix:PATH, or the path is longer
  // than a socket's may be; FAILED_PRECONDITION naming the address when it cannot be bound. A
  // socket that nobody serves any more is replaced.
  static absl::StatusOr<std::unique_ptr<Server>> Create(
      const ServerOptions& options, const std::vector<grpc::Service*>& services);
  // Shuts down without grace if Shutdown was not called.
  ~Server();

  // Returns "host:port" with the real port, or "unix:PATH".
  const std::string& address() const { return address_; }
  // 0 on a socket in the file system.
  int port() const { return port_; }

  // Returns a channel to this server for clients in the same process, which needs no socket. Large
  // pieces of a message reach the other end without a copy. REQUIRES: no call is made on it from
  // the beginning of Shutdown on, because gRPC 1.51 would crash. So clients end before their
  // server.
  std::shared_ptr<grpc::Channel> InProcessChannel() const;

  // Sets what the health service says of the whole server.
  void SetServing(bool serving);

  // Accepts no new calls, waits up to `grace` for running ones, then cancels them and waits until
  // each reactor has called Finish.
  void Shutdown(runtime::Duration grace);

 private:
  Server(std::string address, int port, int max_message_bytes,
         std::unique_ptr<grpc::CallbackGenericService> fallback,
         std::unique_ptr<grpc::Server> server);

  const std::string address_;
  const int port_;
  const int max_message_bytes_;
  // Answers UNIMPLEMENTED to unknown calls. It exists because gRPC 1.51 starts no server without a
  // service.
  const std::unique_ptr<grpc::CallbackGenericService> fallback_;
  const std::unique_ptr<grpc::Server> server_;
};

}  // namespace shoal::transport
