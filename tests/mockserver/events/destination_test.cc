// SPDX-License-Identifier: Apache-2.0
#include "mockserver/events/destination.h"

#include <catch2/catch.hpp>

namespace shoal::mockserver {

TEST_CASE("A destination is taken apart into scheme, host, port and target") {
  struct Case {
    std::string uri;
    bool secure;
    std::string host;
    int port;
    std::string target;
  };
  const Case cases[] = {
      {"http://10.0.0.1", false, "10.0.0.1", 80, "/"},
      {"HTTPS://Collector.Example:8443/events/in?key=1", true, "collector.example", 8443,
       "/events/in?key=1"},
      {"http://[::1]:9000/x#part", false, "::1", 9000, "/x"},
      {"https://host?query", true, "host", 443, "/?query"},
  };
  for (const Case& one : cases) {
    INFO(one.uri);
    const auto destination = ParseDestination(one.uri);
    REQUIRE(destination.has_value());
    REQUIRE(destination->secure == one.secure);
    REQUIRE(destination->host == one.host);
    REQUIRE(destination->port == one.port);
    REQUIRE(destination->target == one.target);
  }
}

TEST_CASE("What is no http or https URI of a host is no destination") {
  for (const std::string& uri :
       {std::string(), std::string("10.0.0.1"), std::string("ftp://host/"), std::string("http://"),
        std::string("http:///x"), std::string("http://user@host/"), std::string("http://host:0/"),
        std::string("http://host:65536"), std::string("http://host:/"),
        std::string("http://host:8x"), std::string("http://[::1"), std::string("http://[::1]x"),
        std::string("http://a b/"), std::string("http://host/\r\nHost: x"),
        std::string("http://h\xc3\xb6st/"),
        "http://host/" + std::string(kMaximumDestination, 'x')}) {
    INFO(uri);
    REQUIRE_FALSE(ParseDestination(uri).has_value());
  }
}

TEST_CASE("Hosts under the domain that is never there are known as such") {
  REQUIRE(ParseDestination("http://dead.INVALID/")->is_invalid());
  REQUIRE(ParseDestination("http://invalid:80/")->is_invalid());
  REQUIRE_FALSE(ParseDestination("http://invalid.example/")->is_invalid());
  REQUIRE_FALSE(ParseDestination("http://notinvalid/")->is_invalid());
}

}  // namespace shoal::mockserver
