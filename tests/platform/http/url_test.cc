// SPDX-License-Identifier: Apache-2.0
#include "platform/http/url.h"

#include <catch2/catch.hpp>
#include <map>
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
       {"", "host", "ftp://host", "http://", "http://:80", "http://host:x", "http://host:99999",
        "http://::1/", "http://[::1", "http://a b", "http://a/\r\nX: y"}) {
    INFO(text);
    const auto url = ParseUrl(text);
    REQUIRE(absl::IsInvalidArgument(url.status()));
    REQUIRE(runtime::Message(url.status()).find(text) != std::string::npos);
  }
}

TEST_CASE("What is wrong about a URL is said without its user and password") {
  for (const auto& [text, shown] : std::map<std::string, std::string>{
           {"https://root:calvin@bmc.lab", "\"https://***@bmc.lab\""},
           {"HTTP://root@bmc.lab/redfish", "\"HTTP://***@bmc.lab/redfish\""},
           {"https://root:cal/vin@bmc.lab", "\"https://***@bmc.lab\""},
           {"https://root:cal?v#in@bmc.lab", "\"https://***@bmc.lab\""},
           {"https://root:c@lvin@bmc.lab", "\"https://***@bmc.lab\""},
           {"https://root:cal vin@bmc.lab", "\"https://***@bmc.lab\""},
           {"https://root:calvin@bmc.lab:99999", "\"https://***@bmc.lab:99999\""},
           {"ftp://root:calvin@bmc.lab", "\"***@bmc.lab\""},
           {"root:cal://vin@bmc.lab", "\"***@bmc.lab\""},
           {"root:calvin@bmc.lab", "\"***@bmc.lab\""}}) {
    INFO(text);
    const std::string message = runtime::Message(ParseUrl(text).status());
    REQUIRE(message.find(shown) != std::string::npos);
    REQUIRE(message.find("vin@") == std::string::npos);
    REQUIRE(message.find("root") == std::string::npos);
  }
}

TEST_CASE("A path of this machine has no scheme") {
  REQUIRE(HasScheme("http://a"));
  REQUIRE_FALSE(HasScheme("data/mirror"));
}

}  // namespace
}  // namespace shoal::http
