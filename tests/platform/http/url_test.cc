// SPDX-License-Identifier: Apache-2.0
#include "platform/http/url.h"

#include <catch2/catch.hpp>
#include <string>

namespace shoal::http {
namespace {

std::string Parsed(const std::string& text) {
  const auto url = ParseUrl(text);
  return url.ok() ? url->Origin() + " " + url->target : "wrong";
}

TEST_CASE("A URL without a port has that of its scheme, and a target in any case") {
  REQUIRE(Parsed("http://host") == "http://host:80 /");
  REQUIRE(Parsed("HTTPS://Host/a/b?c=/d") == "https://Host:443 /a/b?c=/d");
  REQUIRE(Parsed("https://host:8443?query") == "https://host:8443 /?query");
  REQUIRE(Parsed("http://[::1]") == "http://[::1]:80 /");
  REQUIRE(Parsed("http://[::1]:8080/a#fragment") == "http://[::1]:8080 /a");
  REQUIRE(ParseUrl("http://[::1]:8080")->address.host == "::1");
}

TEST_CASE("What is no http URL is an error that names it") {
  for (const char* text :
       {"", "host", "ftp://host", "http://", "http://:80", "http://user@host", "http://host:x",
        "http://host:99999", "http://::1/", "http://[::1", "http://a b", "http://a/\r\nX: y"}) {
    INFO(text);
    const auto url = ParseUrl(text);
    REQUIRE(absl::IsInvalidArgument(url.status()));
    REQUIRE(runtime::Message(url.status()).find(text) != std::string::npos);
  }
}

TEST_CASE("A path of this machine has no scheme") {
  REQUIRE(HasScheme("http://a"));
  REQUIRE_FALSE(HasScheme("data/mirror"));
}

}  // namespace
}  // namespace shoal::http
