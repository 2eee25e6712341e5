// SPDX-License-Identifier: Apache-2.0
#include "platform/http/session.h"

#include <spdlog/spdlog.h>

#include <array>
#include <boost/asio/post.hpp>
#include <charconv>
#include <chrono>
#include <exception>
#include <utility>

#include "platform/http/responder.h"
#include "platform/http/stream_channel.h"

namespace shoal::http {
namespace {

namespace asio = boost::asio;

constexpr std::chrono::milliseconds kLinger{1000};
// The first byte of a TLS connection (RFC 8446, section 5.1).
constexpr char kHandshakeRecord = 0x16;
// It must not exceed the parser's room.
constexpr std::size_t kAheadBytes = 1024;
constexpr std::string_view kLineEnd = "\r\n";
constexpr std::string_view kLastChunk = "0\r\n\r\n";

std::string Chunk(std::string_view bytes) {
  std::array<char, 16> size{};
  const auto end = std::to_chars(size.data(), size.data() + size.size(), bytes.size(), 16).ptr;
  std::string chunk(size.data(), end);
  chunk.reserve(chunk.size() + bytes.size() + 2 * kLineEnd.size());
  return chunk.append(kLineEnd).append(bytes).append(kLineEnd);
}

// Returns false when `work`, which is the handler's code, threw.
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
    : stream_(std::move(socket), owner.tls), owner_(owner), parser_(*owner.options) {}

void Session::Refuse() { stream_.secure() ? Close() : Reject(TooManyConnections()); }

void Session::Start() {
  if (!stream_.secure()) return NextRequest();
  if (owner_.draining) return Close();
  stream_.deadline().Set(owner_.options->request_deadline);
  stream_.socket().async_read_some(
      asio::buffer(&first_byte_, 1), [self = shared_from_this()](Error error, std::size_t) {
        if (error) return self->Fail();
        self->first_byte_ == kHandshakeRecord ? self->Handshake() : self->GoOnPlain();
      });
}

void Session::Handshake() {
  stream_.Handshake({&first_byte_, 1}, [self = shared_from_this()](Error error) {
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
  has_deadline_ = false;
  idle_ = !parser_.has_bytes();
  answering_ = !idle_;
  if (idle_) {
    stream_.deadline().Set(owner_.options->idle_deadline);
    return Read();
  }
  // Posting keeps many pipelined requests from becoming one deep call.
  asio::post(stream_.socket().get_executor(), [self = shared_from_this()] {
    if (!self->closed_) self->Parse();
  });
}

void Session::Read() {
  if (owner_.draining) return Close();
  const auto on_read = [self = shared_from_this()](Error error, std::size_t bytes) {
    self->OnRead(error, bytes);
  };
  if (looks_ahead_) return ReadSome(on_read);
  stream_.AsyncRead(parser_.Prepare(), on_read);
}

void Session::OnRead(Error error, std::size_t bytes) {
  if (closed_) return;
  if (error) {
    if (stream_.deadline().has_passed() && !idle_) owner_.Rejected();
    return Close();
  }
  parser_.Commit(bytes);
  idle_ = false;
  Parse();
}

void Session::Parse() {
  const RequestParser::Progress progress = parser_.Parse();
  const bool waits =
      progress == RequestParser::Progress::kMore || progress == RequestParser::Progress::kContinue;
  if (waits) {
    answering_ = false;
    if (!std::exchange(has_deadline_, true)) {
      stream_.deadline().Set(owner_.options->request_deadline);
    }
  }
  switch (progress) {
    case RequestParser::Progress::kMore:
      return Read();
    case RequestParser::Progress::kContinue:
      // A body that follows in plain text is not requested.
      return redirects_ ? Redirect() : Continue();
    case RequestParser::Progress::kWhole:
      return Answer();
    case RequestParser::Progress::kRejected:
      owner_.Rejected();
      return Reject(parser_.rejection());
  }
}

void Session::Continue() {
  static constexpr std::string_view kText = "HTTP/1.1 100 Continue\r\n\r\n";
  const auto go_on = [self = shared_from_this()](Error error) {
    error ? self->Close() : self->Read();
  };
  if (const auto known = stream_.Write(kText, {}, go_on)) go_on(*known);
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
  stream_.deadline().Clear();
  deferred_ = true;
  LookAhead();
  Responder responder(
      [mailbox = owner_.mailbox, session = weak_from_this()](std::optional<ServerResponse> answer) {
        mailbox->Post([session, answer = std::move(answer)] {
          if (const auto self = session.lock()) self->Deliver(answer);
        });
      });
  // A responder that is lost when this throws answers 500 by itself.
  Guarded([&] { response.later(std::move(responder)); });
}

void Session::LookAhead() {
  if (looks_ahead_ || parser_.has_bytes()) return;
  looks_ahead_ = true;
  ahead_.resize(kAheadBytes);
  stream_.AsyncRead(
      asio::buffer(ahead_),
      [self = shared_from_this()](Error error, std::size_t bytes) { self->OnAhead(error, bytes); });
}

void Session::OnAhead(Error error, std::size_t bytes) {
  looks_ahead_ = false;
  const auto instead = std::exchange(instead_, nullptr);
  if (!closed_) asio::buffer_copy(parser_.Prepare(), asio::buffer(ahead_, bytes));
  if (instead) return instead(error, bytes);
  if (closed_) return;
  if (error && deferred_) return Close();
  if (!error) parser_.Commit(bytes);
}

void Session::ReadSome(std::function<void(Error, std::size_t)> callback) {
  if (looks_ahead_) {
    instead_ = std::move(callback);
  } else {
    stream_.AsyncRead(parser_.Prepare(), std::move(callback));
  }
}

void Session::Deliver(const std::optional<ServerResponse>& response) {
  deferred_ = false;
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
  answering_ = true;
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
  const bool bodyless = response.status == 204 || response.status == 304 ||
                        (response.head_is_whole && parser_.is_head());
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

  const std::optional<Error> known =
      stream_.Write(head_, body_ == nullptr ? std::string_view() : std::string_view(*body_),
                    [self = shared_from_this()](Error error) { self->OnWritten(error); });
  if (known.has_value()) return OnWritten(*known);
  stream_.deadline().Set(owner_.options->request_deadline);
}

void Session::OnWritten(Error error) {
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
  // A stream without output may stay silent for any length of time.
  stream_.deadline().Clear();
  Watch();
  SendPiece(head_);
  if (owner_.draining) channel_->Close();
  Guarded([&] { response.stream(StreamWriter(channel_)); });
}

void Session::Watch() {
  ReadSome([self = shared_from_this()](Error error, std::size_t) {
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
  const auto sent = [self = shared_from_this()](Error error) { self->OnPieceSent(error); };
  const std::optional<Error> known = stream_.Write(piece_, {}, sent);
  if (!known.has_value()) return stream_.deadline().Set(owner_.options->request_deadline);
  asio::post(stream_.socket().get_executor(), [sent, error = *known] { sent(error); });
}

void Session::OnPieceSent(Error error) {
  sending_piece_ = false;
  if (error) return Close();
  stream_.deadline().Clear();
  last_piece_ ? EndStream() : Flush();
}

void Session::EndStream() {
  channel_->End();
  stream_.deadline().Set(kLinger);
  // The pending read of Watch ends with an error, and Linger follows.
  Error ignored;
  stream_.socket().cancel(ignored);
}

void Session::Linger() {
  answering_ = false;
  stream_.deadline().Set(kLinger);
  if (!stream_.secure()) return StopSending();
  stream_.Shutdown([self = shared_from_this()](Error) { self->StopSending(); });
}

void Session::StopSending() {
  if (owner_.draining || closed_) return Close();
  Error ignored;
  stream_.socket().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
  stream_.deadline().Set(kLinger);
  Discard();
}

void Session::Discard() {
  const auto go_on = [self = shared_from_this()](Error error, std::size_t) {
    error ? self->Close() : self->Discard();
  };
  if (looks_ahead_) return ReadSome(go_on);
  stream_.socket().async_read_some(parser_.Prepare(), go_on);
}

void Session::Drain() {
  if (!answering_) return Close();
  if (channel_ != nullptr) channel_->Close();
}

void Session::Close() {
  if (closed_) return;
  closed_ = true;
  stream_.Close();
  if (channel_ != nullptr) channel_->End();
  owner_.Closed(*this);
}

}  // namespace shoal::http
