// SPDX-License-Identifier: Apache-2.0
#include "mockserver/proxy/proxy_rules.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace shoal::mockserver {
namespace {

const std::string kSystemReset = "/redfish/v1/Systems/1/Actions/ComputerSystem.Reset";

ProxyRules Allowing(const std::vector<std::string>& allowed) {
  return ProxyRules::Parse(allowed).value();
}

absl::StatusCode CodeOf(const ProxyRules& rules, Method method, const std::string& target) {
  return rules.TargetOf(method, target).status().code();
}

TEST_CASE("Reads below /redfish are passed on as they are spelled") {
  const ProxyRules rules = Allowing({});
  for (const char* target :
       {"/redfish", "/redfish/", "/redfish/v1", "/redfish/v1/", "/redfish//v1/Systems/",
        "/redfish/v1/Systems?$expand=.($levels=1)", "/redfish/v1/Chassis/My%20Chassis",
        "/redfish/v1/Systems/1/PCIeDevices/0000:00:1f"}) {
    INFO(target);
    for (const Method method : {Method::kGet, Method::kHead, Method::kOptions}) {
      REQUIRE(rules.TargetOf(method, target).value() == target);
    }
  }
  REQUIRE(rules.TargetOf(Method::kGet, "/redfish/v1#/Links").value() == "/redfish/v1");
  REQUIRE(rules.TargetOf(Method::kGet, "http://bmc:1/redfish/v1?a=b").value() == "/redfish/v1?a=b");
}

TEST_CASE("What is outside /redfish, or could be, is not passed on") {
  const ProxyRules rules = Allowing({});
  for (const char* target : {"/", "", "*", "/redfishes", "/cgi-bin/reboot", "/redfis"}) {
    INFO(target);
    REQUIRE(CodeOf(rules, Method::kGet, target) == absl::StatusCode::kNotFound);
  }
  for (const char* target :
       {"/redfish/../cgi-bin/reboot", "/redfish/v1/./x", "/redfish/%2e%2e/cgi-bin",
        "/redfish/.%2E/cgi-bin", "/redfish/..%2fcgi-bin", "/redfish/..\\cgi-bin",
        "/redfish/..;x/cgi-bin", "/redfish/%252e%252e/cgi-bin", "/redfish/v1/a%00b",
        "/redfish/v1/a%2Fb", "/evil://x/redfish/v1", "/redfish/.."}) {
    INFO(target);
    REQUIRE(CodeOf(rules, Method::kGet, target) == absl::StatusCode::kInvalidArgument);
  }
  REQUIRE(CodeOf(rules, Method::kOther, "/redfish/v1") == absl::StatusCode::kUnimplemented);
}

TEST_CASE("A mutation is passed on when its method and path are named, and not otherwise") {
  const ProxyRules rules = Allowing({"POST /redfish/v1/Systems/*/Actions/ComputerSystem.Reset",
                                     "DELETE /redfish/v1/SessionService/Sessions/*"});
  REQUIRE(rules.TargetOf(Method::kPost, kSystemReset).value() == kSystemReset);
  REQUIRE(rules.TargetOf(Method::kPost, kSystemReset + "/").value() == kSystemReset);
  REQUIRE(rules.TargetOf(Method::kDelete, "/redfish/v1/SessionService/Sessions/7").ok());
  const auto refused = [&](Method method, const std::string& target) {
    INFO(target);
    REQUIRE(CodeOf(rules, method, target) == absl::StatusCode::kPermissionDenied);
  };
  refused(Method::kPatch, kSystemReset);
  refused(Method::kPut, kSystemReset);
  refused(Method::kPost, "/redfish/v1/Systems/1");
  refused(Method::kPost, "/redfish/v1/Systems/1/2/Actions/ComputerSystem.Reset");
  refused(Method::kPost, kSystemReset + "/More");
  refused(Method::kPost, "/redfish/v1/SessionService/Sessions");
  // In these targets a host might see another method or another path.
  refused(Method::kPost, kSystemReset + "?_method=DELETE");
  refused(Method::kPost, kSystemReset + ";x=y");
  refused(Method::kPost, "/redfish/v1/Systems/%31/Actions/ComputerSystem.Reset");
  REQUIRE(CodeOf(rules, Method::kPost, "/redfish/v1/Systems/../Systems/Actions/x") ==
          absl::StatusCode::kInvalidArgument);
  REQUIRE(
      CodeOf(rules, Method::kDelete, "/redfish/v1/x://bmc/redfish/v1/SessionService/Sessions/7") ==
      absl::StatusCode::kInvalidArgument);
  REQUIRE(rules.TargetOf(Method::kPatch, "/redfish/v1/Systems/1").status().message() ==
          "PATCH /redfish/v1/Systems/1");
}

TEST_CASE("A mutation that is named wrongly is named in the error") {
  for (const char* wrong :
       {"", "PATCH", "PATCH ", "GET /redfish/v1", "patch /redfish/v1", "* /redfish/v1/Systems/1",
        "PATCH /redfish/v1/**", "PATCH redfish/v1", "PATCH /etc", "PATCH /redfish/v1/",
        "PATCH  /redfish/v1/Systems/1", "PATCH https://bmc/redfish/v1/Systems/1"}) {
    INFO(wrong);
    const absl::Status status = ProxyRules::Parse({wrong}).status();
    REQUIRE(absl::IsInvalidArgument(status));
    REQUIRE(status.message().find("\"" + std::string(wrong) + "\"") != std::string::npos);
  }
}

}  // namespace
}  // namespace shoal::mockserver
