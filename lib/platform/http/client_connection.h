// SPDX-License-Identifier: Apache-2.0
// The client's end of one keep-alive connection.
//
//   http::ClientConnection connection(context.get_executor(), {.address = "127.0.0.1:8000"});
//   connection.Send({.target = "/redfish/v1"}, [](absl::StatusOr<http::ClientResponse> response) {
//     ...
//   });
//
// Used from its executor's one thread; callbacks come there, never from within Send. Requests wait
// in order and are sent one at a time. It connects at the first request and again when the peer has
// closed the connection: a request of which no byte of an answer came is then sent once more, if
// its method is safe to repeat (GET, HEAD, OPTIONS, PUT, DELETE) or the connection was an idle one
// that the peer had closed.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/ssl/context.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "platform/http/message.h"
#include "platform/runtime/status.h"

namespace shoal::http {

struct ClientOptions {
  // "host:port", an IPv6 host in brackets.
  std::string address = {};
  // For TCP's handshake, and as long for that of TLS.
  std::chrono::milliseconds connect_deadline{2'000};
  // From sending a request to the last byte of its response.
  std::chrono::milliseconds request_deadline{10'000};
  std::int64_t max_body_bytes = std::int64_t{64} << 20;
  // From ClientTls; null: no TLS.
  std::shared_ptr<boost::asio::ssl::context> tls = {};
  // Requests waiting, the one in flight included.
  std::size_t max_waiting = 64;
};

class ClientConnection {
 public:
  // OK with any HTTP status. UNAVAILABLE: no connection, or it broke; DEADLINE_EXCEEDED;
  // RESOURCE_EXHAUSTED: max_waiting or max_body_bytes; INVALID_ARGUMENT: address; DATA_LOSS: not
  // HTTP; FAILED_PRECONDITION: the peer's certificate is not trusted; CANCELLED: this was
  // destroyed.
  using Callback = std::function<void(absl::StatusOr<ClientResponse>)>;

  ClientConnection(boost::asio::any_io_executor executor, ClientOptions options);
  // Waiting requests end with CANCELLED, from the executor.
  ~ClientConnection();
  ClientConnection(const ClientConnection&) = delete;
  ClientConnection& operator=(const ClientConnection&) = delete;

  void Send(ClientRequest request, Callback callback);

  std::size_t waiting() const;
  // Times that a connection was made.
  std::uint64_t connects_total() const;

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace shoal::http
