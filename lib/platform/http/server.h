// SPDX-License-Identifier: Apache-2.0
// An HTTP/1.1 server: it has one io_context and one thread for each worker, keeps connections
// alive, and answers pipelined requests in order.
//
//   SHOAL_ASSIGN_OR_RETURN(auto server, http::Server::Create({.listen = "127.0.0.1:0"}, handler));
//   ... server->address() ...
//   server->Drain(std::chrono::seconds(5));
//
// With a certificate and its key it speaks TLS (tls_context.h). A request in plain text on that
// port does not reach the handler: it is redirected to the same URI by https (308; RFC 9110,
// section 15.4.9).
//
// The handler is called on worker threads, on several at once. It must not block: an answer that
// takes time is deferred or streamed (ServerResponse). A peer that closes its end meanwhile, even
// if only for sending, counts as gone, and its connection is closed. A request that is malformed or
// too large (request_parser.h) never reaches the handler: it gets 400, 411, 413, 431 or 501, and
// its connection is closed. A request that is too slow, or a TLS handshake that fails, has its
// connection closed without an answer. Connections beyond the limit get 503; TLS connections are
// only closed.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "platform/http/message.h"
#include "platform/runtime/status.h"

namespace shoal::http {

struct ServerOptions {
  // "host:port", with an IPv6 host in brackets; port 0 takes a free one.
  std::string listen = "127.0.0.1:0";
  // Two PEM files; give both or neither.
  std::string certificate_file = {};
  std::string key_file = {};
  std::int64_t threads = 1;
  std::int64_t max_connections = 1024;
  std::int64_t max_body_bytes = std::int64_t{8} << 20;
  std::int64_t max_header_bytes = std::int64_t{32} << 10;
  std::int64_t max_header_fields = 128;
  // The largest part of a streamed answer that may wait for a peer that reads slowly.
  std::int64_t max_stream_bytes = std::int64_t{1} << 20;
  // Complete header lines, each ended by CRLF, for answers that the handler does not make.
  std::string rejection_header_lines = {};
  // The limit for the TLS handshake, for a request from its first byte to its last, and for writing
  // the response or each piece of a streamed one. A deferred answer has no deadline.
  std::chrono::milliseconds request_deadline{10'000};
  // The time that a connection may wait for its next request.
  std::chrono::milliseconds idle_deadline{120'000};
};

class Server {
 public:
  using Handler = std::function<ServerResponse(const ServerRequest&)>;

  struct Counts {
    std::int64_t connections = 0;
    std::uint64_t accepted_total = 0;
    // Connections beyond the limit.
    std::uint64_t refused_total = 0;
    // Requests that the handler never saw (malformed, too large or too slow) and handshakes that
    // failed.
    std::uint64_t rejected_total = 0;
  };

  // Listens before it returns. INVALID_ARGUMENT for a malformed address, FAILED_PRECONDITION naming
  // the address when it is in use or not ours. NOT_FOUND or INVALID_ARGUMENT naming the file for a
  // certificate or key that cannot be used.
  static absl::StatusOr<std::unique_ptr<Server>> Create(ServerOptions options, Handler handler);
  // Closes the connections that Drain left.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Returns "host:port" with the real port.
  const std::string& address() const;
  Counts counts() const;

  // Stops accepting and closes all connections without a complete request. Complete requests are
  // answered, deferred ones included, and streams are ended; after `patience` the remaining
  // connections are closed. Then the workers are joined. Blocks. Idempotent.
  void Drain(std::chrono::milliseconds patience);

 private:
  class Impl;
  explicit Server(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace shoal::http
