// SPDX-License-Identifier: Apache-2.0
// A server's end of a TCP connection, with or without TLS: an AsyncStream for asio's and Beast's
// algorithms. Which of the two is one branch an operation.
//
// Not thread-safe. Deadlines are those of tcp().
#pragma once

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <optional>
#include <utility>

namespace shoal::http {

class ServerStream {
 public:
  using executor_type = boost::beast::tcp_stream::executor_type;

  // Without TLS when `tls` is null; it is borrowed.
  ServerStream(boost::asio::ip::tcp::socket socket, boost::asio::ssl::context* tls)
      : tcp_(std::move(socket)) {
    if (tls != nullptr) tls_.emplace(tcp_, *tls);
  }

  executor_type get_executor() { return tcp_.get_executor(); }
  bool secure() const { return tls_.has_value(); }
  boost::beast::tcp_stream& tcp() { return tcp_; }

  template <typename Buffers, typename Callback>
  void async_read_some(const Buffers& buffers, Callback&& callback) {
    if (tls_.has_value()) return tls_->async_read_some(buffers, std::forward<Callback>(callback));
    tcp_.async_read_some(buffers, std::forward<Callback>(callback));
  }
  template <typename Buffers, typename Callback>
  void async_write_some(const Buffers& buffers, Callback&& callback) {
    if (tls_.has_value()) return tls_->async_write_some(buffers, std::forward<Callback>(callback));
    tcp_.async_write_some(buffers, std::forward<Callback>(callback));
  }

  // REQUIRES, all: secure(). Callbacks take an error_code.

  // Of a handshake of which `begun` was read; its callback takes how much of it too.
  template <typename Callback>
  void Handshake(boost::asio::mutable_buffer begun, Callback&& callback) {
    tls_->async_handshake(boost::asio::ssl::stream_base::server, begun,
                          std::forward<Callback>(callback));
  }
  // Speaks plain text from now on, before any handshake.
  void GiveTlsUp() { tls_.reset(); }
  // Says that nothing more will be sent, and waits for the peer to say so.
  template <typename Callback>
  void Shutdown(Callback&& callback) {
    tls_->async_shutdown(std::forward<Callback>(callback));
  }

 private:
  boost::beast::tcp_stream tcp_;
  // Not Beast's ssl_stream: it ends a write of two buffers after the first when the second is long.
  std::optional<boost::asio::ssl::stream<boost::beast::tcp_stream&>> tls_;
};

}  // namespace shoal::http
