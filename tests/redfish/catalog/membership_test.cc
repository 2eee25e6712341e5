// SPDX-License-Identifier: Apache-2.0
#include "redfish/catalog/membership.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/redfish/capture/shipped.h"

namespace shoal::redfish {
namespace {

using Json = nlohmann::json;

const std::string kAccounts = "/redfish/v1/AccountService/Accounts";

TEST_CASE("Accounts are slots where one of them is empty") {
  const Capture& dell = Shipped("dell-r750");
  const auto slots = AccountSlots(dell, *dell.Find(kAccounts));
  REQUIRE(slots.size() == dell.Find(kAccounts)->at("Members").size());
  const Capture& openbmc = Shipped("openbmc-stock");
  REQUIRE(AccountSlots(openbmc, *openbmc.Find(kAccounts)).empty());
  REQUIRE(AccountSlots(dell, dell.service_root()).empty());
}

TEST_CASE("A member's type is a member's, else another resource's, else the standard's") {
  const Json collection = {{"@odata.type", "#ManagerAccountCollection.ManagerAccountCollection"}};
  const Json account = {{"@odata.type", "#ManagerAccount.v1_4_0.ManagerAccount"}};
  Json full = collection;
  full["Members"] = {{{"@odata.id", "/redfish/v1/A"}}};
  const auto type = [](Capture::Resources resources, const Json& of) {
    resources["/redfish/v1"] = Json::object();
    return MemberType(**Capture::FromResources("small", std::move(resources)), ShippedSchema(), of);
  };
  REQUIRE(type({{"/redfish/v1/A", account}}, full) == "#ManagerAccount.v1_4_0.ManagerAccount");
  REQUIRE(type({{"/redfish/v1/A", account}}, collection) ==
          "#ManagerAccount.v1_4_0.ManagerAccount");
  REQUIRE(type({}, full) == "#ManagerAccount.ManagerAccount");
  REQUIRE(type({}, account).empty());
}

TEST_CASE("Systems and chassis, and their collections, are hardware") {
  REQUIRE(IsHardware("#ComputerSystem.v1_13_0.ComputerSystem"));
  REQUIRE(IsHardware("#ChassisCollection.ChassisCollection"));
  REQUIRE_FALSE(IsHardware("#ManagerAccount.v1_4_0.ManagerAccount"));
  REQUIRE_FALSE(IsHardware(""));
}

}  // namespace
}  // namespace shoal::redfish
