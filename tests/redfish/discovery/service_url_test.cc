// SPDX-License-Identifier: Apache-2.0
#include "redfish/discovery/service_url.h"

#include <catch2/catch.hpp>
#include <string>

namespace shoal::discovery {
namespace {

std::string Parsed(const std::string& text) {
  const auto url = ParseServiceUrl(text);
  return url.ok() ? url->Origin() : "wrong";
}

TEST_CASE("A URL without a scheme is https, without a port that of its scheme") {
  REQUIRE(Parsed("bmc.lab") == "https://bmc.lab:443");
  REQUIRE(Parsed("http://bmc.lab/") == "http://bmc.lab:80");
  REQUIRE(Parsed("https://10.0.0.1:8443/redfish/v1/") == "https://10.0.0.1:8443");
  REQUIRE(Parsed("https://[fe80::1]") == "https://[fe80::1]:443");
  REQUIRE(Parsed("https://[fe80::1]:444/redfish") == "https://[fe80::1]:444");
}

TEST_CASE("Other schemes, users, paths and ports are refused") {
  for (const char* text : {"ftp://bmc", "https://root@bmc", "https://bmc/ui", "https://bmc:port",
                           "https://", "", "https://bmc:99999"}) {
    INFO(text);
    REQUIRE(Parsed(text) == "wrong");
  }
}

}  // namespace
}  // namespace shoal::discovery
