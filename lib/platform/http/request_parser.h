// SPDX-License-Identifier: Apache-2.0
// Parses the bytes of one connection into successive requests, or into a rejection.
//
// Not thread-safe. Input may be anything that a peer sends: the limits of the options bound memory.
// Beast parses (RFC 9112). The parser also rejects a request whose framing could be read in two
// ways: Content-Length more than once or as a list, Transfer-Encoding other than "chunked" or in
// HTTP/1.0, trailers (Beast would take them for header fields), Host missing or more than once, a
// Content-Type with neither Content-Length nor Transfer-Encoding. Folded lines are joined by
// spaces.
#pragma once

#include <boost/asio/buffer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "platform/http/message.h"
#include "platform/http/server.h"

namespace shoal::http {

// An answer to a request that no handler sees: an HTTP status and a Redfish error (DSP0266, "Error
// responses"; ids are those of the Base message registry 1.22).
struct Rejection {
  int status = 400;
  // The message's name in the Base registry, such as "HeaderInvalid".
  std::string_view message_id = "GeneralError";
  // A text that needs no JSON escape; it must hold nothing that a peer sent.
  std::string message = {};
  std::string_view resolution = "Correct the request and resubmit it.";
  // Further header lines, as in ServerResponse.
  std::string header_lines = {};
};

// Returns {"error": {"code", "message", "@Message.ExtendedInfo": [...]}}.
std::string ErrorBody(const Rejection& rejection);

// Returns the 500 for a handler that failed or never answered.
Rejection InternalError();

// Returns the 400 for plain text on a TLS port that cannot be redirected.
Rejection NoPlainText();

// Returns the 503 for a connection beyond the limit.
Rejection TooManyConnections();

class RequestParser {
 public:
  enum class Progress {
    // More bytes are needed.
    kMore,
    // More bytes are needed, and the peer waits for 100 Continue before it sends them. Returned
    // once for each request.
    kContinue,
    kWhole,
    // The connection cannot go on.
    kRejected,
  };

  // Borrows `options`.
  explicit RequestParser(const ServerOptions& options);

  // Begins the next request. Bytes that came after the previous one are kept.
  void Next();

  // Returns room for the peer's next bytes, valid until the next call. Commit says how many came.
  boost::asio::mutable_buffer Prepare();
  void Commit(std::size_t bytes) { buffer_.commit(bytes); }
  bool has_bytes() const { return buffer_.size() > 0; }

  Progress Parse();

  // REQUIRES: the last Parse returned kWhole, or kContinue, where the body is missing. Valid until
  // Next.
  ServerRequest request() const;
  bool keep_alive() const { return parser_->get().keep_alive(); }

  // Both return false as long as the header is not read.
  bool is_head() const;
  bool is_http_10() const;

  // REQUIRES: the last Parse returned kRejected.
  const Rejection& rejection() const { return *rejection_; }

 private:
  using Parser = boost::beast::http::request_parser<boost::beast::http::string_body>;

  std::size_t BytesNeeded() const;
  // Returns what is wrong with the header apart from its grammar.
  std::optional<Rejection> JudgeHeader();
  std::optional<Rejection> JudgeFraming() const;
  Progress Reject(boost::beast::error_code error);
  Progress Reject(Rejection rejection);

  const ServerOptions& options_;
  boost::beast::flat_buffer buffer_;
  std::optional<Parser> parser_;
  std::optional<Rejection> rejection_;
  std::int64_t header_bytes_ = 0;
  std::int64_t fields_ = 0;
  bool continued_ = false;
};

}  // namespace shoal::http
