// SPDX-License-Identifier: Apache-2.0
// The client's end of one keep-alive connection.
//
//   http::ClientConnection connection(context.get_executor(), {.address = "127.0.0.1:8000"});
//   connection.Send({.target = "/redfish/v1"}, [](absl::StatusOr<http::ClientResponse> response) {
//     ...
//   });
//
// The connection is used from its executor's one thread; callbacks run there, never from within
// Send. Requests wait in order and are sent one at a time. It connects at the first request, and
// again when the peer has closed the connection. A request for which no byte of an answer came is
// then sent once more, if its method is safe (GET, HEAD, OPTIONS). A request that may change
// something, or that ClientRequest::may_repeat excludes, is never sent twice.
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
  // "host:port", with an IPv6 host in brackets.
  std::string address = {};
  // The limit for TCP's handshake, and the same again for that of TLS.
  std::chrono::milliseconds connect_deadline{2'000};
  // The limit from sending a request to the last byte of its response.
  std::chrono::milliseconds request_deadline{10'000};
  std::int64_t max_body_bytes = std::int64_t{64} << 20;
  // The context that ClientTls returns; null means no TLS.
  std::shared_ptr<boost::asio::ssl::context> tls = {};
  // The maximum number of waiting requests, including the one in flight.
  std::size_t max_waiting = 64;
};

class ClientConnection {
 public:
  // Receives OK with any HTTP status, or an error. UNAVAILABLE: no connection, or it broke;
  // DEADLINE_EXCEEDED: too late; RESOURCE_EXHAUSTED: max_waiting or max_body_bytes is exceeded;
  // INVALID_ARGUMENT: bad address; DATA_LOSS: the answer is not HTTP; FAILED_PRECONDITION: the
  // peer's certificate is not trusted; CANCELLED: the connection object was destroyed.
  using Callback = std::function<void(absl::StatusOr<ClientResponse>)>;

  ClientConnection(boost::asio::any_io_executor executor, ClientOptions options);
  // Waiting requests end with CANCELLED, on the executor.
  ~ClientConnection();
  ClientConnection(const ClientConnection&) = delete;
  ClientConnection& operator=(const ClientConnection&) = delete;

  void Send(ClientRequest request, Callback callback);

  std::size_t waiting() const;
  // The number of connections made so far.
  std::uint64_t connects_total() const;

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace shoal::http
