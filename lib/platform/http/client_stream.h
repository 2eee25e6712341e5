// SPDX-License-Identifier: Apache-2.0
// A client's end of a TCP connection, with or without TLS: an AsyncStream for the algorithms of
// asio and Beast. Each connection needs a new object.
//
// Not thread-safe. Deadlines are those of tcp().
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "platform/http/tls_context.h"

namespace shoal::http {

class ClientStream {
 public:
  using executor_type = boost::beast::tcp_stream::executor_type;

  // Uses no TLS when `tls` is null.
  ClientStream(boost::asio::any_io_executor executor,
               std::shared_ptr<boost::asio::ssl::context> tls)
      : context_(std::move(tls)), tcp_(std::move(executor)) {}

  executor_type get_executor() { return tcp_.get_executor(); }
  bool secure() const { return context_ != nullptr; }
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

  // Performs the TLS handshake. REQUIRES: secure(), just connected, no operation in flight. The
  // callback takes an error_code.
  template <typename Callback>
  void Handshake(const std::string& host, Callback&& callback) {
    tls_.emplace(tcp_, *context_);
    if (!ExpectHost(tls_->native_handle(), host)) {
      boost::asio::post(get_executor(), [callback = std::forward<Callback>(callback)]() mutable {
        callback(boost::asio::error::make_error_code(boost::asio::error::invalid_argument));
      });
      return;
    }
    tls_->async_handshake(boost::asio::ssl::stream_base::client, std::forward<Callback>(callback));
  }
  // Returns in words why the peer's certificate was refused, or an empty text when it was not.
  std::string RefusalReason() {
    return tls_.has_value() ? CertificateRefusal(tls_->native_handle()) : std::string();
  }

 private:
  const std::shared_ptr<boost::asio::ssl::context> context_;
  boost::beast::tcp_stream tcp_;
  std::optional<boost::asio::ssl::stream<boost::beast::tcp_stream&>> tls_;
};

}  // namespace shoal::http
