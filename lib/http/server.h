// SPDX-License-Identifier: Apache-2.0
// An HTTP/1.1 server: one io_context and one thread per worker, keep-alive, pipelined requests
// answered in order.
//
//   SHOAL_ASSIGN_OR_RETURN(auto server, http::Server::Create({.listen = "127.0.0.1:0"}, handler));
//   ... server->address() ...
//   server->Drain(std::chrono::seconds(5));
//
// The handler is called on worker threads, on several at once; it must not block. A request that is
// malformed or too large never reaches it: it gets 400, 413 or 431, and its connection is closed;
// one that is too slow has its connection closed. Connections past the limit get 503.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "http/message.h"
#include "runtime/status.h"

namespace shoal::http {

struct ServerOptions {
  // "host:port", an IPv6 host in brackets; port 0 takes a free one.
  std::string listen = "127.0.0.1:0";
  std::int64_t threads = 1;
  std::int64_t max_connections = 1024;
  std::int64_t max_body_bytes = std::int64_t{8} << 20;
  std::int64_t max_header_bytes = std::int64_t{32} << 10;
  // From the first byte of a request to its last, and for writing the response.
  std::chrono::milliseconds request_deadline{10'000};
  // How long a connection may wait for its next request.
  std::chrono::milliseconds idle_deadline{120'000};
};

class Server {
 public:
  using Handler = std::function<ServerResponse(const ServerRequest&)>;

  struct Counts {
    std::int64_t connections = 0;
    std::uint64_t accepted_total = 0;
    // Connections past the limit.
    std::uint64_t refused_total = 0;
    // Requests answered without the handler: malformed, too large, too slow.
    std::uint64_t rejected_total = 0;
  };

  // Listens before it returns. INVALID_ARGUMENT for an address that is none, FAILED_PRECONDITION
  // naming the address when it is in use or not ours.
  static absl::StatusOr<std::unique_ptr<Server>> Create(ServerOptions options, Handler handler);
  // Closes what Drain left.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // "host:port" with the real port.
  const std::string& address() const;
  Counts counts() const;

  // Stops accepting, lets requests that are whole be answered, closes all other connections, closes
  // the rest after `patience`; then joins the workers. Blocks. Idempotent.
  void Drain(std::chrono::milliseconds patience);

 private:
  class Impl;
  explicit Server(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace shoal::http
