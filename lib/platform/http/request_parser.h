// SPDX-License-Identifier: Apache-2.0
// Bytes of one connection made into requests, one after another, or into the reason why not.
//
// Not thread-safe. Takes what any peer may send: memory is bounded by the limits of the options.
// Beast parses (RFC 9112); on top of it a request is rejected when its framing could be read in two
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
  // A name in the Base registry: "HeaderInvalid".
  std::string_view message_id = "GeneralError";
  // Text that needs no JSON escape: nothing that a peer sent.
  std::string message = {};
  std::string_view resolution = "Correct the request and resubmit it.";
  // Further ones, as in ServerResponse.
  std::string header_lines = {};
};

// {"error": {"code", "message", "@Message.ExtendedInfo": [...]}}
std::string ErrorBody(const Rejection& rejection);

// 500, for a handler that failed or never answered.
Rejection InternalError();

// 400, for plain text on a port for TLS that cannot be redirected.
Rejection NoPlainText();

// 503, for a connection past the limit.
Rejection TooManyConnections();

class RequestParser {
 public:
  enum class Progress {
    // More bytes are needed.
    kMore,
    // So they are, and the peer waits for 100 Continue before it sends them. Once a request.
    kContinue,
    kWhole,
    // The connection cannot go on.
    kRejected,
  };

  // Borrows `options`.
  explicit RequestParser(const ServerOptions& options);

  // Begins the next request; bytes that came after the last one stay.
  void Next();

  // Room for what the peer sends, valid until the next call; Commit says how much of it came.
  boost::asio::mutable_buffer Prepare();
  void Commit(std::size_t bytes) { buffer_.commit(bytes); }
  bool has_bytes() const { return buffer_.size() > 0; }

  Progress Parse();

  // REQUIRES: the last Parse was kWhole, or kContinue: then without its body. Valid until Next.
  ServerRequest request() const;
  bool keep_alive() const { return parser_->get().keep_alive(); }

  // False as long as the header is not read.
  bool is_head() const;
  bool is_http_10() const;

  // REQUIRES: the last Parse was kRejected.
  const Rejection& rejection() const { return *rejection_; }

 private:
  using Parser = boost::beast::http::request_parser<boost::beast::http::string_body>;

  std::size_t BytesNeeded() const;
  // What is wrong with the header beyond its grammar.
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
