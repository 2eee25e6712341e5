// SPDX-License-Identifier: Apache-2.0
#include "http/session.h"

#include <spdlog/spdlog.h>

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>
#include <charconv>
#include <chrono>
#include <exception>
#include <utility>

#include "http/responder.h"
#include "http/stream_writer.h"

namespace shoal::http {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;

constexpr std::chrono::milliseconds kLinger{1000};
// What a TLS connection begins with (RFC 8446, section 5.1).
constexpr char kHandshakeRecord = 0x16;
constexpr std::string_view kLineEnd = "\r\n";
constexpr std::string_view kLastChunk = "0\r\n\r\n";

std::string Chunk(std::string_view bytes) {
  std::array<char, 16> size{};
  const auto end = std::to_chars(size.data(), size.data() + size.size(), bytes.size(), 16).ptr;
  std::string chunk(size.data(), end);
  chunk.reserve(chunk.size() + bytes.size() + 2 * kLineEnd.size());
  return chunk.append(kLineEnd).append(bytes).append(kLineEnd);
}

// False when `work`, of the handler's, threw.
template <typename Work>
bool Guarded(const Work& work) {
  try {
    work();
    return true;
  } catch (const std::exception& failure) {
    spdlog::error("event=handler_failed reason=\"{}\"", failure.what());
    return false;
  }
}

}  // namespace

std::string_view DateLine::Now() {
  const std::time_t now = std::time(nullptr);
  if (now != second_) {
    second_ = now;
    std::tm parts{};
    gmtime_r(&now, &parts);
    std::array<char, 64> text{};
    const std::size_t length =
        std::strftime(text.data(), text.size(), "Date: %a, %d %b %Y %H:%M:%S GMT\r\n", &parts);
    line_.assign(text.data(), length);
  }
  return line_;
}

Session::Session(asio::ip::tcp::socket socket, Owner& owner)
    : stream_(std::move(socket), owner.tls), owner_(owner), parser_(*owner.options) {
  boost::system::error_code ignored;
  stream_.tcp().socket().set_option(asio::ip::tcp::no_delay(true), ignored);
}

void Session::Refuse() { stream_.secure() ? Close() : Reject(TooManyConnections()); }

void Session::Start() {
  if (!stream_.secure()) return NextRequest();
  if (owner_.draining) return Close();
  stream_.tcp().expires_after(owner_.options->request_deadline);
  stream_.tcp().async_read_some(asio::buffer(&first_byte_, 1),
                                [self = shared_from_this()](beast::error_code error, std::size_t) {
                                  if (error) return self->Fail();
                                  self->first_byte_ == kHandshakeRecord ? self->Handshake()
                                                                        : self->GoOnPlain();
                                });
}

void Session::Handshake() {
  stream_.Handshake(asio::buffer(&first_byte_, 1),
                    [self = shared_from_this()](beast::error_code error, std::size_t) {
                      error ? self->Fail() : self->NextRequest();
                    });
}

void Session::GoOnPlain() {
  stream_.GiveTlsUp();
  redirects_ = true;
  asio::buffer_copy(parser_.Prepare(), asio::buffer(&first_byte_, 1));
  parser_.Commit(1);
  NextRequest();
}

void Session::Fail() {
  owner_.Rejected();
  Close();
}

void Session::NextRequest() {
  parser_.Next();
  answering_ = false;
  idle_ = !parser_.has_bytes();
  if (idle_) {
    stream_.tcp().expires_after(owner_.options->idle_deadline);
    Read();
  } else {
    stream_.tcp().expires_after(owner_.options->request_deadline);
    Parse();
  }
}

void Session::Read() {
  if (owner_.draining) return Close();
  stream_.async_read_some(parser_.Prepare(),
                          [self = shared_from_this()](beast::error_code error, std::size_t bytes) {
                            self->OnRead(error, bytes);
                          });
}

void Session::OnRead(beast::error_code error, std::size_t bytes) {
  if (error) {
    if (error == beast::error::timeout && !idle_) owner_.Rejected();
    return Close();
  }
  parser_.Commit(bytes);
  if (idle_) {
    idle_ = false;
    stream_.tcp().expires_after(owner_.options->request_deadline);
  }
  Parse();
}

void Session::Parse() {
  switch (parser_.Parse()) {
    case RequestParser::Progress::kMore:
      return Read();
    case RequestParser::Progress::kContinue:
      return Continue();
    case RequestParser::Progress::kWhole:
      return Answer();
    case RequestParser::Progress::kRejected:
      owner_.Rejected();
      return Reject(parser_.rejection());
  }
}

void Session::Continue() {
  static constexpr std::string_view kText = "HTTP/1.1 100 Continue\r\n\r\n";
  asio::async_write(stream_, asio::buffer(kText.data(), kText.size()),
                    [self = shared_from_this()](beast::error_code error, std::size_t) {
                      error ? self->Close() : self->Read();
                    });
}

void Session::Answer() {
  answering_ = true;
  keep_alive_ = parser_.keep_alive();
  if (redirects_) return Redirect();
  ServerResponse response;
  const bool answered = Guarded([&] { response = (*owner_.handler)(parser_.request()); });
  answered ? Respond(response) : Reject(InternalError());
}

void Session::Respond(const ServerResponse& response) {
  if (response.dropped) return Close();
  if (response.later) return Defer(response);
  if (response.stream && !parser_.is_head()) return Stream(response);
  Write(response);
}

void Session::Defer(const ServerResponse& response) {
  Responder responder(
      [mailbox = owner_.mailbox, session = weak_from_this()](std::optional<ServerResponse> answer) {
        mailbox->Post([session, answer = std::move(answer)] {
          if (const auto self = session.lock()) self->Deliver(answer);
        });
      });
  // A responder that is lost on the way answers for itself.
  Guarded([&] { response.later(std::move(responder)); });
}

void Session::Deliver(const std::optional<ServerResponse>& response) {
  if (closed_) return;
  response.has_value() ? Respond(*response) : Reject(InternalError());
}

void Session::Reject(const Rejection& rejection) {
  answering_ = true;
  keep_alive_ = false;
  linger_ = true;
  Write({.status = rejection.status,
         .header_lines = owner_.options->rejection_header_lines + rejection.header_lines,
         .body = std::make_shared<const std::string>(ErrorBody(rejection))});
}

void Session::Redirect() {
  const ServerRequest request = parser_.request();
  const std::string_view host = request.Header("Host");
  if (host.empty() || !request.target().starts_with('/')) return Reject(NoPlainText());
  keep_alive_ = false;
  linger_ = true;
  ServerResponse response{.status = 308, .header_lines = owner_.options->rejection_header_lines};
  AppendHeader(response.header_lines, "Location",
               std::string("https://").append(host).append(request.target()));
  Write(response);
}

void Session::BeginHead(const ServerResponse& response) {
  head_.assign("HTTP/1.1 ").append(std::to_string(response.status)).append(" ");
  head_.append(ReasonPhrase(response.status)).append(kLineEnd).append(owner_.date.Now());
}

void Session::EndHead() {
  if (!keep_alive_) head_.append("Connection: close\r\n");
  if (keep_alive_ && parser_.is_http_10()) head_.append("Connection: keep-alive\r\n");
  head_.append(kLineEnd);
}

void Session::Write(const ServerResponse& response) {
  keep_alive_ = keep_alive_ && !owner_.draining;
  BeginHead(response);
  const bool bodyless = response.status == 204 || response.status == 304;
  if ((response.body != nullptr || response.stream) && !bodyless) {
    head_.append("Content-Type: ").append(response.content_type).append(kLineEnd);
  }
  if (!bodyless && !response.stream) {
    const std::size_t length = response.body == nullptr ? 0 : response.body->size();
    head_.append("Content-Length: ").append(std::to_string(length)).append(kLineEnd);
  }
  head_.append(response.header_lines);
  EndHead();
  body_ = parser_.is_head() || bodyless ? nullptr : response.body;

  const std::array<asio::const_buffer, 2> buffers = {
      asio::buffer(head_), body_ == nullptr ? asio::const_buffer() : asio::buffer(*body_)};
  stream_.tcp().expires_after(owner_.options->request_deadline);
  asio::async_write(stream_, buffers,
                    [self = shared_from_this()](beast::error_code error, std::size_t) {
                      self->OnWritten(error);
                    });
}

void Session::OnWritten(beast::error_code error) {
  body_ = nullptr;
  if (error) return Close();
  if (keep_alive_) return NextRequest();
  linger_ || stream_.secure() ? Linger() : Close();
}

void Session::Stream(const ServerResponse& response) {
  keep_alive_ = false;
  BeginHead(response);
  head_.append("Content-Type: ").append(response.content_type).append(kLineEnd);
  if (!parser_.is_http_10()) head_.append("Transfer-Encoding: chunked\r\n");
  head_.append(response.header_lines);
  EndHead();
  channel_ =
      std::make_shared<StreamChannel>(static_cast<std::size_t>(owner_.options->max_stream_bytes),
                                      [mailbox = owner_.mailbox, session = weak_from_this()] {
                                        mailbox->Post([session] {
                                          if (const auto self = session.lock()) self->Flush();
                                        });
                                      });
  Watch();
  SendPiece(head_);
  if (owner_.draining) channel_->Close();
  Guarded([&] { response.stream(StreamWriter(channel_)); });
}

void Session::Watch() {
  // For the read alone: a write that is pending keeps its deadline.
  stream_.tcp().expires_never();
  stream_.async_read_some(parser_.Prepare(),
                          [self = shared_from_this()](beast::error_code error, std::size_t) {
                            if (self->last_piece_ && !self->sending_piece_) return self->Linger();
                            error ? self->Close() : self->Watch();
                          });
}

void Session::Flush() {
  if (closed_ || last_piece_) return;
  if (channel_->overflowed()) return Close();
  if (sending_piece_) return;
  StreamChannel::Taken taken = channel_->Take();
  if (taken.bytes.empty() && !taken.closed) return;
  last_piece_ = taken.closed;
  if (parser_.is_http_10()) return SendPiece(std::move(taken.bytes));
  std::string piece = taken.bytes.empty() ? std::string() : Chunk(taken.bytes);
  if (last_piece_) piece.append(kLastChunk);
  SendPiece(std::move(piece));
}

void Session::SendPiece(std::string bytes) {
  piece_ = std::move(bytes);
  sending_piece_ = true;
  stream_.tcp().expires_after(owner_.options->request_deadline);
  asio::async_write(stream_, asio::buffer(piece_),
                    [self = shared_from_this()](beast::error_code error, std::size_t) {
                      self->sending_piece_ = false;
                      if (error) return self->Close();
                      self->last_piece_ ? self->EndStream() : self->Flush();
                    });
}

void Session::EndStream() {
  channel_->End();
  // The read that watched ends, and Linger follows.
  stream_.tcp().cancel();
}

void Session::Linger() {
  answering_ = false;
  stream_.tcp().expires_after(kLinger);
  if (!stream_.secure()) return StopSending();
  stream_.Shutdown([self = shared_from_this()](beast::error_code) { self->StopSending(); });
}

void Session::StopSending() {
  if (owner_.draining || closed_) return Close();
  boost::system::error_code ignored;
  stream_.tcp().socket().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
  stream_.tcp().expires_after(kLinger);
  Discard();
}

void Session::Discard() {
  stream_.tcp().async_read_some(parser_.Prepare(),
                                [self = shared_from_this()](beast::error_code error, std::size_t) {
                                  error ? self->Close() : self->Discard();
                                });
}

void Session::Drain() {
  if (!answering_) return Close();
  if (channel_ != nullptr) channel_->Close();
}

void Session::Close() {
  if (closed_) return;
  closed_ = true;
  boost::system::error_code ignored;
  stream_.tcp().socket().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
  stream_.tcp().close();
  if (channel_ != nullptr) channel_->End();
  owner_.Closed(*this);
}

}  // namespace shoal::http
