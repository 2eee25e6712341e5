// SPDX-License-Identifier: Apache-2.0
#include "http/session.h"

#include <spdlog/spdlog.h>

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/error.hpp>
#include <chrono>
#include <exception>

namespace shoal::http {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;

constexpr std::size_t kReadBytes = 16384;
constexpr std::chrono::milliseconds kLinger{1000};

std::string_view View(beast::string_view text) { return {text.data(), text.size()}; }

std::string_view LookUp(const void* fields, std::string_view name) {
  const auto& all = *static_cast<const beast::http::fields*>(fields);
  const auto found = all.find(beast::string_view(name.data(), name.size()));
  return found == all.end() ? std::string_view{} : View(found->value());
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
    : stream_(std::move(socket)), owner_(owner) {
  boost::system::error_code ignored;
  stream_.socket().set_option(asio::ip::tcp::no_delay(true), ignored);
}

void Session::Refuse() {
  parser_.emplace();
  RejectWith(503, "Too many connections.");
}

void Session::Start() { NextRequest(); }

void Session::NextRequest() {
  parser_.emplace();
  parser_->header_limit(static_cast<std::uint32_t>(owner_.options->max_header_bytes));
  parser_->body_limit(static_cast<std::uint64_t>(owner_.options->max_body_bytes));
  continued_ = false;
  answering_ = false;
  idle_ = buffer_.size() == 0;
  if (idle_) {
    stream_.expires_after(owner_.options->idle_deadline);
    Read();
  } else {
    stream_.expires_after(owner_.options->request_deadline);
    Parse();
  }
}

void Session::Read() {
  if (owner_.draining) return Close();
  stream_.async_read_some(buffer_.prepare(kReadBytes),
                          [self = shared_from_this()](beast::error_code error, std::size_t bytes) {
                            self->OnRead(error, bytes);
                          });
}

void Session::OnRead(beast::error_code error, std::size_t bytes) {
  if (error) {
    if (error == beast::error::timeout && !idle_) owner_.Rejected();
    return Close();
  }
  buffer_.commit(bytes);
  if (idle_) {
    idle_ = false;
    stream_.expires_after(owner_.options->request_deadline);
  }
  Parse();
}

void Session::Parse() {
  while (!parser_->is_done() && buffer_.size() > 0) {
    beast::error_code error;
    const std::size_t used = parser_->put(buffer_.data(), error);
    buffer_.consume(used);
    if (error == beast::http::error::need_more) break;
    if (error) return Reject(error);
    if (used == 0) break;
    // Not before: an eager parser forgets what it found wrong in the header when a body follows.
    if (parser_->is_header_done()) parser_->eager(true);
  }
  if (parser_->is_done()) return Answer();
  if (parser_->is_header_done() && !continued_ &&
      beast::iequals(parser_->get()[beast::http::field::expect], "100-continue")) {
    return Continue();
  }
  Read();
}

void Session::Continue() {
  continued_ = true;
  static constexpr std::string_view kText = "HTTP/1.1 100 Continue\r\n\r\n";
  asio::async_write(stream_, asio::buffer(kText.data(), kText.size()),
                    [self = shared_from_this()](beast::error_code error, std::size_t) {
                      error ? self->Close() : self->Read();
                    });
}

void Session::Answer() {
  const auto& request = parser_->get();
  keep_alive_ = request.keep_alive();
  const beast::http::fields& fields = request;
  ServerResponse response;
  try {
    response = (*owner_.handler)(ServerRequest(
        View(request.method_string()), View(request.target()), request.body(), &fields, &LookUp));
  } catch (const std::exception& failure) {
    spdlog::error("event=handler_failed reason=\"{}\"", failure.what());
    return RejectWith(500, "Internal error.");
  }
  Write(response, request.method() != beast::http::verb::head);
}

void Session::Reject(beast::error_code error) {
  owner_.Rejected();
  if (error == beast::http::error::body_limit) {
    return RejectWith(413, "The body is longer than " +
                               std::to_string(owner_.options->max_body_bytes) + " bytes.");
  }
  if (error == beast::http::error::header_limit) {
    return RejectWith(431, "The header is longer than " +
                               std::to_string(owner_.options->max_header_bytes) + " bytes.");
  }
  RejectWith(400, "The request is not HTTP/1.1: " + error.message() + ".");
}

void Session::RejectWith(int status, std::string_view message) {
  keep_alive_ = false;
  linger_ = true;
  auto body = std::make_shared<std::string>("{\"error\":{\"code\":\"Base.1.18.GeneralError\",");
  body->append("\"message\":\"").append(message).append("\"}}");
  Write({.status = status, .body = std::move(body)}, true);
}

void Session::Write(const ServerResponse& response, bool with_body) {
  answering_ = true;
  const bool http_10 = parser_->is_header_done() && parser_->get().version() == 10;
  keep_alive_ = keep_alive_ && !owner_.draining;
  head_.assign("HTTP/1.1 ").append(std::to_string(response.status)).append(" ");
  head_.append(ReasonPhrase(response.status)).append("\r\n").append(owner_.date.Now());
  const bool bodyless = response.status == 204 || response.status == 304;
  if (response.body != nullptr && !bodyless) {
    head_.append("Content-Type: ").append(response.content_type).append("\r\n");
  }
  if (!bodyless) {
    const std::size_t length = response.body == nullptr ? 0 : response.body->size();
    head_.append("Content-Length: ").append(std::to_string(length)).append("\r\n");
  }
  head_.append(response.header_lines);
  if (!keep_alive_) head_.append("Connection: close\r\n");
  if (keep_alive_ && http_10) head_.append("Connection: keep-alive\r\n");
  head_.append("\r\n");
  body_ = with_body && !bodyless ? response.body : nullptr;

  const std::array<asio::const_buffer, 2> buffers = {
      asio::buffer(head_), body_ == nullptr ? asio::const_buffer() : asio::buffer(*body_)};
  stream_.expires_after(owner_.options->request_deadline);
  asio::async_write(stream_, buffers,
                    [self = shared_from_this()](beast::error_code error, std::size_t) {
                      self->body_ = nullptr;
                      if (error) return self->Close();
                      if (self->linger_) return self->Linger();
                      self->keep_alive_ ? self->NextRequest() : self->Close();
                    });
}

void Session::Linger() {
  answering_ = false;
  if (owner_.draining) return Close();
  boost::system::error_code ignored;
  stream_.socket().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
  stream_.expires_after(kLinger);
  Discard();
}

void Session::Discard() {
  buffer_.clear();
  stream_.async_read_some(buffer_.prepare(kReadBytes),
                          [self = shared_from_this()](beast::error_code error, std::size_t) {
                            error ? self->Close() : self->Discard();
                          });
}

void Session::Drain() {
  if (!answering_) Close();
}

void Session::Close() {
  if (closed_) return;
  closed_ = true;
  boost::system::error_code ignored;
  stream_.socket().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
  stream_.close();
  owner_.Closed(*this);
}

}  // namespace shoal::http
