// SPDX-License-Identifier: Apache-2.0
#include "platform/http/server_stream.h"

#include <algorithm>

namespace shoal::http {
namespace {

namespace asio = boost::asio;

// Texts that fit into one record together are copied into one, since a record costs more than the
// copy.
constexpr std::size_t kRecordBytes = 16 * 1024;
// The bound is far above TLS's own output while it reads from a well-behaved peer (alerts, new
// keys).
constexpr std::size_t kMaxProvokedBytes = std::size_t{64} << 10;

}  // namespace

ServerStream::ServerStream(asio::ip::tcp::socket socket, asio::ssl::context* tls)
    : deadline_(std::move(socket)) {
  Error ignored;
  this->socket().non_blocking(true, ignored);
  this->socket().set_option(asio::ip::tcp::no_delay(true), ignored);
  if (tls != nullptr) tls_ = std::make_unique<Tls>(*tls);
}

void ServerStream::Close() {
  Error ignored;
  socket().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
  deadline_.Close();
}

ServerStream::Error ServerStream::WriteNow(Buffers& rest) {
  Error error;
  std::size_t sent = socket().write_some(rest, error);
  if (error == asio::error::would_block || error == asio::error::try_again) error = {};
  for (asio::const_buffer& buffer : rest) {
    const std::size_t of_this = std::min(sent, buffer.size());
    buffer += of_this;
    sent -= of_this;
  }
  return error;
}

ServerStream::Error ServerStream::Encrypt(std::string_view first, std::string_view second) {
  TlsEngine& engine = tls_->engine;
  Error error;
  bool is_written = false;
  if (first.size() + second.size() <= kRecordBytes) {
    tls_->joined.assign(first).append(second);
    is_written = engine.Write(tls_->joined, [this, &error](std::string_view bytes) {
      Buffers rest{asio::buffer(bytes), {}};
      error = WriteNow(rest);
      return bytes.size() - asio::buffer_size(rest);
    });
  } else {
    is_written = engine.Write(first) && engine.Write(second);
  }
  engine.TakeOutput(tls_->output);
  return is_written ? error : Failed();
}

std::optional<ServerStream::Error> ServerStream::Decrypt(asio::mutable_buffer room,
                                                         std::size_t& bytes) {
  const TlsEngine::Step step =
      tls_->engine.Read(static_cast<char*>(room.data()), room.size(), bytes);
  if (tls_->engine.waiting_output() > kMaxProvokedBytes) return Failed();
  switch (step) {
    case TlsEngine::Step::kDone:
      return Error();
    case TlsEngine::Step::kMore:
      return std::nullopt;
    case TlsEngine::Step::kClosed:
      return asio::error::make_error_code(asio::error::eof);
    case TlsEngine::Step::kFailed:
      return Failed();
  }
  return Failed();
}

}  // namespace shoal::http
