// SPDX-License-Identifier: Apache-2.0
#include "platform/http/request_parser.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

namespace shoal::http {
namespace {

using Progress = RequestParser::Progress;

constexpr std::string_view kGet = "GET / HTTP/1.1\r\nHost: x\r\n";
// It must outlive the parsers that use it.
const ServerOptions kDefaults;

// Gives `bytes` to the parser, `piece` at a time, until it accepts or rejects them.
Progress Feed(RequestParser& parser, std::string_view bytes, std::size_t piece) {
  Progress progress = Progress::kMore;
  while (!bytes.empty() && progress != Progress::kWhole && progress != Progress::kRejected) {
    const std::size_t size = std::min(piece, bytes.size());
    std::copy_n(bytes.data(), size, static_cast<char*>(parser.Prepare().data()));
    parser.Commit(size);
    bytes.remove_prefix(size);
    progress = parser.Parse();
  }
  return progress;
}

// Returns the status with which `bytes` are rejected, or 0 if they are a request. Checks that the
// pieces make no difference.
int StatusOf(const std::string& bytes, const ServerOptions& options = {}) {
  int status = -1;
  for (const std::size_t piece : {std::size_t{16384}, std::size_t{7}, std::size_t{1}}) {
    RequestParser parser(options);
    const Progress progress = Feed(parser, bytes, piece);
    REQUIRE(progress != Progress::kMore);
    REQUIRE(progress != Progress::kContinue);
    const int found = progress == Progress::kWhole ? 0 : parser.rejection().status;
    REQUIRE((status == -1 || status == found));
    status = found;
  }
  return status;
}

std::string With(std::string_view lines) { return std::string(kGet) + std::string(lines) + "\r\n"; }

std::string Patch(std::string_view rest) {
  return "PATCH /r HTTP/1.1\r\nHost: x\r\n" + std::string(rest);
}

}  // namespace

TEST_CASE("A Content-Type without a length is 411, a bodiless POST is a request") {
  for (const std::string method : {"POST", "PUT", "PATCH"}) {
    INFO(method);
    const std::string start = method + " / HTTP/1.1\r\nHost: x\r\n";
    REQUIRE(StatusOf(start + "Content-Type: application/json\r\n\r\n") == 411);
    REQUIRE(StatusOf(start + "\r\n") == 0);
    REQUIRE(StatusOf(start + "Content-Type: application/json\r\nContent-Length: 0\r\n\r\n") == 0);
    REQUIRE(StatusOf(start + "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n"
                             "\r\n0\r\n\r\n") == 0);
  }
  REQUIRE(StatusOf(With("Content-Type: application/json\r\n")) == 0);
}

TEST_CASE("More than one Content-Length is 400, the same value twice too") {
  REQUIRE(StatusOf(Patch("Content-Length: 2\r\nContent-Length: 3\r\n\r\nab")) == 400);
  REQUIRE(StatusOf(Patch("Content-Length: 2\r\nContent-Length: 2\r\n\r\nab")) == 400);
  REQUIRE(StatusOf(Patch("Content-Length: 2, 2\r\n\r\nab")) == 400);
  REQUIRE(StatusOf(Patch("Content-Length: +2\r\n\r\nab")) == 400);
  REQUIRE(StatusOf(Patch("Content-Length: 99999999999999999999\r\n\r\n")) == 400);
  REQUIRE(StatusOf(Patch("Content-Length: 2\r\n\r\nab")) == 0);
}

TEST_CASE("Content-Length together with Transfer-Encoding is 400 in either order") {
  REQUIRE(StatusOf(Patch("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")) ==
          400);
  REQUIRE(StatusOf(Patch("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n")) ==
          400);
  REQUIRE(StatusOf(Patch("Content-Length: 5\r\nTransfer-Encoding: gzip\r\n\r\nhello")) == 400);
}

TEST_CASE("A transfer coding other than chunked is 501, any in HTTP/1.0 is 400") {
  REQUIRE(StatusOf(Patch("Transfer-Encoding: gzip\r\n\r\n")) == 501);
  REQUIRE(StatusOf(Patch("Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n")) == 501);
  REQUIRE(StatusOf(Patch("Transfer-Encoding: xchunked\r\n\r\n")) == 501);
  REQUIRE(StatusOf("PATCH / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n") == 400);
}

TEST_CASE("HTTP/1.1 needs one Host, HTTP/1.0 none") {
  REQUIRE(StatusOf("GET / HTTP/1.1\r\n\r\n") == 400);
  REQUIRE(StatusOf(With("Host: y\r\n")) == 400);
  REQUIRE(StatusOf("GET / HTTP/1.1\r\nHost:\r\n\r\n") == 0);
  REQUIRE(StatusOf("GET / HTTP/1.0\r\n\r\n") == 0);
}

TEST_CASE("One field more than the limit is 431") {
  std::string lines;
  for (int i = 0; i < 127; ++i) lines += "X" + std::to_string(i) + ": 1\r\n";
  REQUIRE(StatusOf(With(lines)) == 0);
  REQUIRE(StatusOf(With(lines + "One: more\r\n")) == 431);
}

TEST_CASE("The header's limit holds for the sum of its lines, each in a packet of its own") {
  const ServerOptions options{.max_header_bytes = 2000};
  // Each packet ends with the first byte of the next line, so Beast keeps nothing of the earlier
  // lines.
  const std::string line = ": " + std::string(95, 'x') + "\r\nX";
  RequestParser parser(options);
  REQUIRE(Feed(parser, std::string(kGet) + "X", 1000) == Progress::kMore);
  int lines = 0;
  Progress progress = Progress::kMore;
  for (; progress == Progress::kMore && lines < 100; ++lines) {
    progress = Feed(parser, line, line.size());
  }
  REQUIRE(progress == Progress::kRejected);
  REQUIRE(parser.rejection().status == 431);
  REQUIRE(lines == 20);
}

TEST_CASE("A folded line reaches the handler as one line with spaces") {
  RequestParser parser(kDefaults);
  REQUIRE(Feed(parser, With("X-Folded: one\r\n two\r\n\tthree\r\n"), 5) == Progress::kWhole);
  REQUIRE(parser.request().Header("x-folded") == "one two three");
  REQUIRE(StatusOf("GET / HTTP/1.1\r\n Host: x\r\n\r\n") == 400);
  REQUIRE(StatusOf(Patch("Transfer-Encoding:\r\n chunked\r\nContent-Length: 3\r\n\r\nabc")) == 400);
}

TEST_CASE("Chunks may end anywhere, the last line of them too") {
  const std::string request =
      Patch("Transfer-Encoding: chunked\r\n\r\n3;a=b\r\nabc\r\n1\r\nd\r\n0\r\n\r\n");
  for (std::size_t cut = 1; cut < request.size(); ++cut) {
    for (const std::size_t rest : {std::size_t{1}, request.size()}) {
      INFO(cut << " then " << rest);
      RequestParser parser(kDefaults);
      REQUIRE(Feed(parser, std::string_view(request).substr(0, cut), cut) == Progress::kMore);
      REQUIRE(Feed(parser, std::string_view(request).substr(cut), rest) == Progress::kWhole);
      REQUIRE(parser.request().body() == "abcd");
    }
  }
}

TEST_CASE("A last chunk that comes in three packets is no assertion") {
  RequestParser parser(kDefaults);
  REQUIRE(Feed(parser, Patch("Transfer-Encoding: chunked\r\n\r\n"), 1000) == Progress::kMore);
  REQUIRE(Feed(parser, "0\r\n", 3) == Progress::kMore);
  REQUIRE(Feed(parser, "\r", 1) == Progress::kMore);
  REQUIRE(Feed(parser, "\n", 1) == Progress::kWhole);
}

TEST_CASE("A chunk's line without an end is cut at the header's limit") {
  const ServerOptions options{.max_header_bytes = 2000};
  for (const std::string line : {"1;x=", "0\r\nX: ", "0\r\nX: 1\r\nY: "}) {
    INFO(line);
    REQUIRE(StatusOf(Patch("Transfer-Encoding: chunked\r\n\r\n" + line + std::string(40000, 'x')),
                     options) == 431);
  }
}

TEST_CASE("Trailers do not become header fields") {
  REQUIRE(StatusOf(Patch("Transfer-Encoding: chunked\r\n\r\n0\r\nIf-Match: *\r\n\r\n")) == 400);
}

TEST_CASE("Bodies past the limit are 413 as soon as they are announced") {
  const ServerOptions options{.max_body_bytes = 1000};
  REQUIRE(StatusOf(Patch("Content-Length: 1001\r\n\r\n"), options) == 413);
  REQUIRE(StatusOf(Patch("Transfer-Encoding: chunked\r\n\r\n3e9\r\n"), options) == 413);
  REQUIRE(StatusOf(Patch("Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n"), options) ==
          413);
}

TEST_CASE("100 Continue is asked for once, and never in HTTP/1.0") {
  RequestParser parser(kDefaults);
  const std::string lines = "Expect: 100-continue\r\nContent-Length: 2\r\n\r\n";
  REQUIRE(Feed(parser, Patch(lines), 1000) == Progress::kContinue);
  REQUIRE(Feed(parser, "a", 1) == Progress::kMore);
  REQUIRE(Feed(parser, "b", 1) == Progress::kWhole);
  RequestParser old(kDefaults);
  REQUIRE(Feed(old, "PUT / HTTP/1.0\r\n" + lines, 1000) == Progress::kMore);
}

TEST_CASE("What follows a request is kept for the next") {
  RequestParser parser(kDefaults);
  REQUIRE(Feed(parser, Patch("Content-Length: 2\r\n\r\nab") + With(""), 1000) == Progress::kWhole);
  REQUIRE(parser.request().body() == "ab");
  REQUIRE(parser.has_bytes());
  parser.Next();
  REQUIRE(parser.Parse() == Progress::kWhole);
  REQUIRE(parser.request().method() == "GET");
  REQUIRE(!parser.has_bytes());
}

}  // namespace shoal::http
