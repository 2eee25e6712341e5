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

// Whether two header fields have one name: without case.
bool SameName(std::string_view a, std::string_view b);

// Header fields in order.
class Headers {
 public:
  void Add(std::string name, std::string value) {
    fields_.emplace_back(std::move(name), std::move(value));
  }
  // The first field called `name`; empty when there is none.
  std::string_view Find(std::string_view name) const;

  auto begin() const { return fields_.begin(); }
  auto end() const { return fields_.end(); }
  bool empty() const { return fields_.empty(); }

 private:
  std::vector<std::pair<std::string, std::string>> fields_;
};

// What a client sends. Host, Content-Length and Connection are written by the connection.
struct ClientRequest {
  std::string method = "GET";
  std::string target = "/";
  Headers headers = {};
  std::string body = {};
  // Sent as Content-Type when there is a body.
  std::string_view content_type = "application/json";
};

// What a client receives.
struct ClientResponse {
  int status = 0;
  Headers headers;
  std::string body;
};

// What a server received. Valid, with all that it points to, until the handler returns.
class ServerRequest {
 public:
  // Looks a header up without case; empty when absent.
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

// What a server answers. Content-Length, Date and Connection are written by the session.
//
// An answer that is not known yet, or has no end yet, is a function instead, called once on the
// worker's thread; it must not block.
struct ServerResponse {
  int status = 200;
  // Complete further header lines, each ended by CRLF: "ETag: \"1\"\r\nAllow: GET\r\n". Values must
  // not hold CR or LF: pass what came from a peer through AppendHeader.
  std::string header_lines = {};
  // Sent without a copy; null for none. A HEAD request gets its length alone.
  std::shared_ptr<const std::string> body = {};
  std::string_view content_type = "application/json";
  // Answers later (responder.h); the rest of this is not looked at. The connection's next request
  // waits meanwhile.
  std::function<void(Responder)> later = {};
  // Writes the body bit by bit (stream_channel.h) after this status and these headers; `body` is
  // not looked at. Sent in chunks, or to an HTTP/1.0 peer until the connection closes, which it
  // does in either case. Not called for a HEAD request.
  std::function<void(StreamWriter)> stream = {};
  // header_lines are all of the head, Content-Type and Content-Length too: an answer to HEAD that
  // another server gave, whose body is not here.
  bool head_is_whole = false;
  // Nothing is answered: the connection is closed.
  bool dropped = false;
};

// Appends "name: value" and CRLF to `lines`, control characters in `value` left out.
void AppendHeader(std::string& lines, std::string_view name, std::string_view value);

// Whether a request of this method may be sent again when no answer came: it changes nothing, or
// the same twice (RFC 9110 section 9.2.2).
bool IsRepeatable(std::string_view method);

// "OK" for 200; empty for what has no standard reason.
std::string_view ReasonPhrase(int status);

}  // namespace shoal::http
