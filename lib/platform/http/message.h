// SPDX-License-Identifier: Apache-2.0
// HTTP requests and responses as plain values, for both ends of a connection.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace shoal::http {

class Responder;
class StreamWriter;

// Returns whether two header field names are equal, ignoring case.
bool SameName(std::string_view a, std::string_view b);

// Header fields in order.
class Headers {
 public:
  void Add(std::string name, std::string value) {
    fields_.emplace_back(std::move(name), std::move(value));
  }
  // Returns the value of the first field called `name`, or an empty text when there is none.
  std::string_view Find(std::string_view name) const;

  auto begin() const { return fields_.begin(); }
  auto end() const { return fields_.end(); }
  bool empty() const { return fields_.empty(); }

 private:
  std::vector<std::pair<std::string, std::string>> fields_;
};

// A request that a client sends. The connection itself writes Host, Content-Length and Connection.
struct ClientRequest {
  std::string method = "GET";
  std::string target = "/";
  Headers headers = {};
  std::string body = {};
  // The Content-Type header, which is sent when there is a body.
  std::string_view content_type = "application/json";
  // Whether a connection may send it again when no answer came. Only safe requests are.
  bool may_repeat = true;
};

// A response that a client receives.
struct ClientResponse {
  int status = 0;
  Headers headers;
  std::string body;
};

// A request that a server received. The request and all that it refers to are valid until the
// handler returns.
class ServerRequest {
 public:
  // Returns the header called `name`, ignoring case; empty when absent.
  using HeaderLookup = std::string_view (*)(const void* fields, std::string_view name);

  ServerRequest(std::string_view method, std::string_view target, std::string_view body,
                const void* fields, HeaderLookup lookup)
      : method_(method), target_(target), body_(body), fields_(fields), lookup_(lookup) {}

  std::string_view method() const { return method_; }
  std::string_view target() const { return target_; }
  std::string_view body() const { return body_; }
  std::string_view Header(std::string_view name) const { return lookup_(fields_, name); }

 private:
  const std::string_view method_;
  const std::string_view target_;
  const std::string_view body_;
  const void* const fields_;
  const HeaderLookup lookup_;
};

// A response that a server sends. The session writes Content-Length, Date and Connection.
//
// A response that is not known yet, or has no end yet, is given by a function instead. The function
// is called once on the worker's thread; it must not block.
struct ServerResponse {
  int status = 200;
  // Complete further header lines, each ended by CRLF: "ETag: \"1\"\r\nAllow: GET\r\n". Values must
  // not hold CR or LF: pass a value that came from a peer through AppendHeader.
  std::string header_lines = {};
  // The body, which is sent without a copy; null for none. A HEAD request gets only its length.
  std::shared_ptr<const std::string> body = {};
  std::string_view content_type = "application/json";
  // Answers later (responder.h); all other members are ignored. The connection's next request waits
  // until then.
  std::function<void(Responder)> later = {};
  // Streams the body (stream_channel.h) after this status and these headers; `body` is ignored. The
  // body is sent in chunks, or to an HTTP/1.0 peer until the connection closes. The connection
  // closes in either case. The function is not called for a HEAD request.
  std::function<void(StreamWriter)> stream = {};
  // For an answer to HEAD that another server gave: header_lines hold the whole head, including
  // Content-Type and Content-Length, and there is no body here.
  bool head_is_whole = false;
  // Sends no answer and closes the connection.
  bool dropped = false;
};

// Appends "name: value" and CRLF to `lines`; control characters in `value` are left out.
void AppendHeader(std::string& lines, std::string_view name, std::string_view value);

// Returns whether a request of this method changes nothing, so that it may be sent again when no
// answer came (RFC 9110 section 9.2.1). PUT and DELETE are idempotent and not safe: between the two
// requests, somebody else may have made what the second one would replace or remove.
bool IsSafe(std::string_view method);

// Returns "OK" for 200, and an empty text for a status without a standard reason.
std::string_view ReasonPhrase(int status);

}  // namespace shoal::http
