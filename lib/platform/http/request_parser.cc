// SPDX-License-Identifier: Apache-2.0
#include "platform/http/request_parser.h"

#include <boost/beast/http/error.hpp>
#include <iterator>
#include <string>
#include <utility>

namespace shoal::http {

std::string ErrorBody(const Rejection& rejection) {
  const std::string id = "\"Base.1.22." + std::string(rejection.message_id) + "\"";
  const std::string message = "\"" + rejection.message + "\"";
  return "{\"error\":{\"code\":" + id + ",\"message\":" + message +
         ",\"@Message.ExtendedInfo\":[{\"@odata.type\":\"#Message.v1_1_2.Message\",\"MessageId\":" +
         id + ",\"Message\":" + message + ",\"MessageSeverity\":\"Critical\",\"Resolution\":\"" +
         std::string(rejection.resolution) + "\"}]}}";
}

Rejection InternalError() {
  return {.status = 500,
          .message_id = "InternalError",
          .message =
              "The request failed due to an internal service error.  The service is still "
              "operational.",
          .resolution =
              "Resubmit the request.  If the problem persists, consider resetting the "
              "service."};
}

Rejection NoPlainText() {
  return {.message = "This port speaks HTTPS.", .resolution = "Use an https URI."};
}

Rejection TooManyConnections() {
  return {.status = 503,
          .message_id = "ServiceTemporarilyUnavailable",
          .message = "The service is temporarily unavailable.  Retry in 1 seconds.",
          .resolution = "Wait for the indicated retry duration and retry the operation.",
          .header_lines = "Retry-After: 1\r\n"};
}

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using beast::http::field;

constexpr std::size_t kReadBytes = 16384;
// The length of "0\r\n\r\n". Beast 1.74 asserts that it has this many bytes once it has seen the
// first line of the last chunk.
constexpr std::size_t kLastChunkBytes = 5;

std::string_view View(beast::string_view text) { return {text.data(), text.size()}; }

std::string_view LookUp(const void* fields, std::string_view name) {
  const auto& all = *static_cast<const beast::http::fields*>(fields);
  const auto found = all.find(beast::string_view(name.data(), name.size()));
  return found == all.end() ? std::string_view{} : View(found->value());
}

Rejection HeaderInvalid(std::string_view name) {
  return {.message_id = "HeaderInvalid",
          .message = "Header '" + std::string(name) + "' is invalid.",
          .resolution = "Resubmit the request with a valid request header."};
}

Rejection HeaderMissing(int status, std::string_view name) {
  return {.status = status,
          .message_id = "HeaderMissing",
          .message = "Required header '" + std::string(name) + "' is missing in the request.",
          .resolution = "Resubmit the request with the required request header."};
}

Rejection HeaderTooLarge(std::int64_t limit, std::string_view unit) {
  return {.status = 431,
          .message =
              "The header is longer than " + std::to_string(limit) + " " + std::string(unit) + ".",
          .resolution = "Shorten the header and resubmit the request."};
}

bool BringsBody(beast::http::verb method) {
  return method == beast::http::verb::post || method == beast::http::verb::put ||
         method == beast::http::verb::patch;
}

}  // namespace

RequestParser::RequestParser(const ServerOptions& options) : options_(options) { Next(); }

void RequestParser::Next() {
  parser_.emplace();
  parser_->header_limit(static_cast<std::uint32_t>(options_.max_header_bytes));
  parser_->body_limit(static_cast<std::uint64_t>(options_.max_body_bytes));
  header_bytes_ = 0;
  fields_ = 0;
  continued_ = false;
}

asio::mutable_buffer RequestParser::Prepare() { return buffer_.prepare(kReadBytes); }

std::size_t RequestParser::BytesNeeded() const {
  return parser_->is_header_done() && parser_->chunked() ? kLastChunkBytes : 1;
}

RequestParser::Progress RequestParser::Parse() {
  while (!parser_->is_done() && buffer_.size() >= BytesNeeded()) {
    const bool in_header = !parser_->is_header_done();
    beast::error_code error;
    const std::size_t used = parser_->put(buffer_.data(), error);
    buffer_.consume(used);
    const bool short_of_bytes = error == beast::http::error::need_more;
    if (error && !short_of_bytes) return Reject(error);
    if (in_header) {
      // Beast limits each field, but neither their sum nor the lines of a chunked body.
      header_bytes_ += static_cast<std::int64_t>(used);
      if (header_bytes_ > options_.max_header_bytes)
        return Reject(beast::http::error::header_limit);
      if (parser_->is_header_done()) {
        if (auto wrong = JudgeHeader()) return Reject(*std::move(wrong));
        // Eager mode must start only now: an eager parser forgets an error in the header when a
        // body follows.
        parser_->eager(true);
      }
    }
    if (short_of_bytes) {
      if (static_cast<std::int64_t>(buffer_.size()) <= options_.max_header_bytes) break;
      return Reject(beast::http::error::header_limit);
    }
  }
  if (parser_->is_done()) {
    const auto& fields = parser_->get();
    const bool trailed =
        parser_->chunked() && std::distance(fields.begin(), fields.end()) != fields_;
    return trailed ? Reject(HeaderInvalid("Trailer")) : Progress::kWhole;
  }
  if (!parser_->is_header_done() || continued_ || is_http_10()) return Progress::kMore;
  continued_ = beast::iequals(parser_->get()[field::expect], "100-continue");
  return continued_ ? Progress::kContinue : Progress::kMore;
}

std::optional<Rejection> RequestParser::JudgeHeader() {
  int lengths = 0;
  int hosts = 0;
  for (const auto& each : parser_->get()) {
    ++fields_;
    lengths += each.name() == field::content_length ? 1 : 0;
    hosts += each.name() == field::host ? 1 : 0;
  }
  if (fields_ > options_.max_header_fields) {
    return HeaderTooLarge(options_.max_header_fields, "fields");
  }
  if (hosts > 1) return HeaderInvalid("Host");
  if (hosts == 0 && !is_http_10()) return HeaderMissing(400, "Host");
  if (lengths > 1) return HeaderInvalid("Content-Length");
  return JudgeFraming();
}

std::optional<Rejection> RequestParser::JudgeFraming() const {
  const auto& request = parser_->get();
  const auto length = request.find(field::content_length);
  if (length != request.end()) {
    if (View(length->value()).find(',') == std::string_view::npos) return std::nullopt;
    return HeaderInvalid("Content-Length");
  }
  const auto encoding = request.find(field::transfer_encoding);
  if (encoding != request.end()) {
    if (is_http_10()) return HeaderInvalid("Transfer-Encoding");
    if (beast::iequals(encoding->value(), "chunked")) return std::nullopt;
    Rejection unknown = HeaderInvalid("Transfer-Encoding");
    unknown.status = 501;
    return unknown;
  }
  const bool announced =
      BringsBody(request.method()) && request.find(field::content_type) != request.end();
  if (announced) return HeaderMissing(411, "Content-Length");
  return std::nullopt;
}

RequestParser::Progress RequestParser::Reject(beast::error_code error) {
  if (error == beast::http::error::body_limit) {
    return Reject({.status = 413,
                   .message_id = "PayloadTooLarge",
                   .message = "The body is longer than " + std::to_string(options_.max_body_bytes) +
                              " bytes.",
                   .resolution = "Shorten the body and resubmit the request."});
  }
  if (error == beast::http::error::header_limit) {
    return Reject(HeaderTooLarge(options_.max_header_bytes, "bytes"));
  }
  return Reject({.message = "The request is not HTTP/1.1: " + error.message() + "."});
}

RequestParser::Progress RequestParser::Reject(Rejection rejection) {
  rejection_ = std::move(rejection);
  return Progress::kRejected;
}

ServerRequest RequestParser::request() const {
  const auto& request = parser_->get();
  const beast::http::fields& fields = request;
  return {View(request.method_string()), View(request.target()), request.body(), &fields, &LookUp};
}

bool RequestParser::is_head() const {
  return parser_->is_header_done() && parser_->get().method() == beast::http::verb::head;
}

bool RequestParser::is_http_10() const {
  return parser_->is_header_done() && parser_->get().version() == 10;
}

}  // namespace shoal::http
