// SPDX-License-Identifier: Apache-2.0
#include "platform/http/address.h"

#include <catch2/catch.hpp>

#include "platform/http/message.h"

namespace shoal::http {

TEST_CASE("Addresses are host and port") {
  REQUIRE(ParseAddress("127.0.0.1:80")->host == "127.0.0.1");
  REQUIRE(ParseAddress("localhost:65535")->port == 65535);
  REQUIRE(ParseAddress("[::1]:8080")->host == "::1");
  REQUIRE(Format({"::1", 8080}) == "[::1]:8080");
  REQUIRE(Format({"host", 1}) == "host:1");
}

TEST_CASE("What is no address is an error that names it") {
  for (const char* text : {"", ":", ":80", "host", "host:", "host:x", "host:65536", "host:-1",
                           "::1:80", "[]:80", "[::1:80", "host:80 "}) {
    INFO(text);
    const auto address = ParseAddress(text);
    REQUIRE(address.status().code() == absl::StatusCode::kInvalidArgument);
    REQUIRE(runtime::Message(address.status()).find(text) != std::string::npos);
  }
}

TEST_CASE("A header value cannot end its line") {
  std::string lines;
  AppendHeader(lines, "X", "a\r\nEvil: 1\tb");
  REQUIRE(lines == "X: aEvil: 1b\r\n");
}

TEST_CASE("Header names compare without case") {
  Headers headers;
  headers.Add("ETag", "\"1\"");
  REQUIRE(headers.Find("etag") == "\"1\"");
  REQUIRE(headers.Find("etagg").empty());
}

}  // namespace shoal::http
