// SPDX-License-Identifier: Apache-2.0
// A server's end of a TCP connection, with or without TLS. The choice costs each operation one
// branch.
//
// The design lets an answer cost one system call: bytes are written at once, and only what does not
// fit waits for the event loop. One deadline covers every pending operation. Moving it is cheap, as
// the timer behind it is set anew only when it would fire too late.
//
// Not thread-safe. At most one read and one write may be in flight. Callbacks take an error_code,
// and AsyncRead's also the number of bytes; callbacks must keep this object alive.
#pragma once

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "platform/http/deadline.h"
#include "platform/http/tls_engine.h"

namespace shoal::http {

class ServerStream {
 public:
  using Error = boost::system::error_code;

  // Uses no TLS when `tls` is null; the context is borrowed.
  ServerStream(boost::asio::ip::tcp::socket socket, boost::asio::ssl::context* tls);

  bool secure() const { return tls_ != nullptr; }
  // Returns the socket below TLS.
  boost::asio::ip::tcp::socket& socket() { return deadline_.socket(); }
  // The deadline closes the socket when it passes, and records that.
  Deadline& deadline() { return deadline_; }
  void Close();

  // Reads the available bytes, at least one.
  template <typename Callback>
  void AsyncRead(boost::asio::mutable_buffer room, Callback callback);

  // Sends both texts. Returns the result when it is known at once. Otherwise `callback` receives
  // it, and the texts must stay in place until then.
  template <typename Callback>
  std::optional<Error> Write(std::string_view first, std::string_view second, Callback callback);

  // All of the following REQUIRE secure().

  // Speaks plain text from now on. Call it before any handshake.
  void GiveTlsUp() { tls_.reset(); }
  // Continues a TLS handshake whose first bytes, `begun`, were read already.
  template <typename Callback>
  void Handshake(std::string_view begun, Callback callback);
  // Tells the peer that nothing more will be sent.
  template <typename Callback>
  void Shutdown(Callback callback);

 private:
  using Buffers = std::array<boost::asio::const_buffer, 2>;

  static Error Failed() { return boost::asio::error::make_error_code(boost::asio::error::fault); }
  // Writes once without waiting; `rest` is left with the unsent bytes.
  Error WriteNow(Buffers& rest);
  // Encrypts the texts. The first record of small texts is sent at once, as far as it goes; the
  // rest is in tls_->output.
  Error Encrypt(std::string_view first, std::string_view second);
  // Decrypts into `room`; returns nothing when more bytes are needed from the peer.
  std::optional<Error> Decrypt(boost::asio::mutable_buffer room, std::size_t& bytes);

  template <typename Callback>
  void ReadMore(boost::asio::mutable_buffer room, Callback callback);
  template <typename Callback>
  void ContinueHandshake(Callback callback);
  template <typename Callback>
  std::optional<Error> Send(Buffers buffers, Callback callback);

  // The memory that TLS needs.
  struct Tls {
    explicit Tls(boost::asio::ssl::context& context) : engine(context.native_handle()) {}
    TlsEngine engine;
    // The bytes from the peer (input) and to it (output).
    std::array<char, 16 * 1024 + 512> input;
    std::string output;
    std::string joined;
  };

  Deadline deadline_;
  std::unique_ptr<Tls> tls_;
};

template <typename Callback>
void ServerStream::AsyncRead(boost::asio::mutable_buffer room, Callback callback) {
  if (!secure()) return socket().async_read_some(room, std::move(callback));
  if (!tls_->engine.has_input()) return ReadMore(room, std::move(callback));
  std::size_t bytes = 0;
  const std::optional<Error> known = Decrypt(room, bytes);
  if (!known.has_value()) return ReadMore(room, std::move(callback));
  boost::asio::post(socket().get_executor(),
                    [error = *known, bytes, callback = std::move(callback)]() mutable {
                      callback(error, bytes);
                    });
}

template <typename Callback>
void ServerStream::ReadMore(boost::asio::mutable_buffer room, Callback callback) {
  socket().async_read_some(
      boost::asio::buffer(tls_->input),
      [this, room, callback = std::move(callback)](Error error, std::size_t size) mutable {
        std::size_t bytes = 0;
        if (!error) {
          tls_->engine.Feed({tls_->input.data(), size});
          const std::optional<Error> known = Decrypt(room, bytes);
          if (!known.has_value()) return ReadMore(room, std::move(callback));
          error = *known;
        }
        callback(error, bytes);
      });
}

template <typename Callback>
std::optional<ServerStream::Error> ServerStream::Write(std::string_view first,
                                                       std::string_view second, Callback callback) {
  if (!secure()) {
    return Send({boost::asio::buffer(first), boost::asio::buffer(second)}, std::move(callback));
  }
  if (const Error error = Encrypt(first, second)) return error;
  return Send({boost::asio::buffer(tls_->output), {}}, std::move(callback));
}

template <typename Callback>
std::optional<ServerStream::Error> ServerStream::Send(Buffers buffers, Callback callback) {
  const Error error = WriteNow(buffers);
  if (error || boost::asio::buffer_size(buffers) == 0) return error;
  boost::asio::async_write(
      socket(), buffers,
      [callback = std::move(callback)](Error late, std::size_t) mutable { callback(late); });
  return std::nullopt;
}

template <typename Callback>
void ServerStream::Handshake(std::string_view begun, Callback callback) {
  tls_->engine.Feed(begun);
  ContinueHandshake(std::move(callback));
}

template <typename Callback>
void ServerStream::ContinueHandshake(Callback callback) {
  const TlsEngine::Step step = tls_->engine.Handshake();
  tls_->engine.TakeOutput(tls_->output);
  boost::asio::async_write(
      socket(), boost::asio::buffer(tls_->output),
      [this, step, callback = std::move(callback)](Error error, std::size_t) mutable {
        if (error || step == TlsEngine::Step::kDone) return callback(error);
        if (step != TlsEngine::Step::kMore) return callback(Failed());
        socket().async_read_some(
            boost::asio::buffer(tls_->input),
            [this, callback = std::move(callback)](Error failed, std::size_t size) mutable {
              if (failed) return callback(failed);
              tls_->engine.Feed({tls_->input.data(), size});
              ContinueHandshake(std::move(callback));
            });
      });
}

template <typename Callback>
void ServerStream::Shutdown(Callback callback) {
  tls_->engine.Close();
  tls_->engine.TakeOutput(tls_->output);
  boost::asio::async_write(
      socket(), boost::asio::buffer(tls_->output),
      [callback = std::move(callback)](Error error, std::size_t) mutable { callback(error); });
}

}  // namespace shoal::http
