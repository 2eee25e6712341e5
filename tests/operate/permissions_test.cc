// SPDX-License-Identifier: Apache-2.0
#include "operate/permissions.h"

#include <catch2/catch.hpp>
#include <vector>

namespace shoal::operate {
namespace {

const std::vector<Step> kTwoSteps = {{.method = "PATCH", .uri = "/redfish/v1/Systems/1"},
                                     {.method = "DELETE", .uri = "/redfish/v1/Chassis/1"}};

Permissions With(std::int64_t budget, const std::vector<std::string>& patterns,
                 std::set<std::string> methods) {
  Permissions permissions;
  permissions.budget = budget;
  permissions.methods = std::move(methods);
  for (const std::string& pattern : patterns) {
    permissions.uris.push_back(mockserver::Glob::Parse(pattern).value());
  }
  return permissions;
}

}  // namespace

TEST_CASE("permissions that name nothing permit what was announced") {
  REQUIRE(Permissions().Check(kTwoSteps).ok());
}

TEST_CASE("a plan beyond its budget, its patterns or its methods is not permitted") {
  REQUIRE(With(2, {}, {}).Check(kTwoSteps).ok());
  REQUIRE(absl::IsPermissionDenied(With(1, {}, {}).Check(kTwoSteps)));
  REQUIRE(absl::IsPermissionDenied(With(0, {}, {}).Check(kTwoSteps)));
  REQUIRE(With(-1, {"/redfish/v1/**"}, {}).Check(kTwoSteps).ok());
  REQUIRE(With(-1, {"/redfish/v1/Systems/*", "/redfish/v1/Chassis/*"}, {}).Check(kTwoSteps).ok());
  REQUIRE(absl::IsPermissionDenied(With(-1, {"/redfish/v1/Systems/*"}, {}).Check(kTwoSteps)));
  REQUIRE(With(-1, {}, {"PATCH", "DELETE"}).Check(kTwoSteps).ok());
  REQUIRE(absl::IsPermissionDenied(With(-1, {}, {"PATCH"}).Check(kTwoSteps)));
}

TEST_CASE("a budget is spent request by request, and one that was not sent comes back") {
  Budget budget(2);
  REQUIRE(budget.Take().ok());
  REQUIRE(budget.Take().ok());
  REQUIRE(absl::IsPermissionDenied(budget.Take()));
  budget.GiveBack();
  REQUIRE(budget.Take().ok());
  REQUIRE(budget.left() == 0);
}

}  // namespace shoal::operate
