// SPDX-License-Identifier: Apache-2.0
#include "operate/goal_choice.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

namespace shoal::operate {
namespace {

using Json = nlohmann::json;

bool Says(const absl::Status& status, const std::string& text) {
  INFO(status.message());
  return absl::IsInvalidArgument(status) &&
         std::string(status.message()).find(text) != std::string::npos;
}

}  // namespace

TEST_CASE("values are given to the goals of a wish that know them") {
  const redfish::GoalSuite suite = redfish::LoadGoals("data/goals").value();
  Wish wish = {.goals = {{.goal = "asset_tag"}, {.goal = "forced_password"}}};
  REQUIRE(GiveValues(suite, {{"AssetTag", "DC-17"}, {"other:Password", "old"}}, wish).ok());
  REQUIRE(wish.goals[0].values == redfish::Values{{"AssetTag", "DC-17"}});
  REQUIRE(wish.goals[1].values == redfish::Values{{"other:Password", "old"}});
  REQUIRE(Says(GiveValues(suite, {{"Moon", "full"}}, wish), "none of the goals"));

  Wish boots = {
      .goals = {{.goal = "iso_boot"}, {.goal = "bios_attribute"}, {.goal = "boot_order"}}};
  const redfish::Values given = {
      {"Image", "http://x/a.iso"}, {"To", "On"}, {"BootOrder:first", "b"}};
  REQUIRE(GiveValues(suite, given, boots).ok());
  REQUIRE(boots.goals[0].values.size() == 1);
  REQUIRE(boots.goals[1].values == redfish::Values{{"To", "On"}});
  REQUIRE(boots.goals[2].values == redfish::Values{{"BootOrder:first", "b"}});
  Wish hosts = {.goals = {{.goal = "iso_boot"}, {.goal = "event_pipeline"}}};
  REQUIRE(Says(GiveValues(suite, {{"Host", "images.lab"}}, hosts), "more than one of the goals"));
}

TEST_CASE("a wish of one goal takes every value, so that the goal itself names what it lacks") {
  const redfish::GoalSuite suite = redfish::LoadGoals("data/goals").value();
  Wish wish = {.goals = {{.goal = "power_on"}}};
  REQUIRE(GiveValues(suite, {{"Moon", "full"}}, wish).ok());
  REQUIRE(wish.goals[0].values.at("Moon") == "full");
}

TEST_CASE("the name and the values of a wish are those of its goals") {
  const Wish wish = {.goals = {{.goal = "one", .values = {{"A", "x"}}},
                               {.goal = "two", .values = {{"A", "y"}, {"B", 2}}}}};
  REQUIRE(NameOf(wish) == "one+two");
  REQUIRE(NameOf({.goals = {{.goal = "tag", .targets = {"system", "chassis"}}}}) ==
          "tag(chassis,system)");
  REQUIRE(ValuesOf(wish) == Json::array({{{"A", "x"}}, {{"A", "y"}, {"B", 2}}}));
  REQUIRE(ValuesOf({.goals = {wish.goals[0]}}) == Json({{"A", "x"}}));
}

TEST_CASE("different passwords of two goals are secrets of different names") {
  const redfish::GoalSuite suite = redfish::LoadGoals("data/goals").value();
  Wish wish = {.goals = {{.goal = "add_operator", .values = {{"Password", "a"}}},
                         {.goal = "forced_password",
                          .values = {{"Password", "a"}, {"other:Password", "b"}}}}};
  using Named = std::map<std::string, std::string>;
  REQUIRE(SecretsOf(suite, wish)->values() == Named{{"Password", "a"}, {"other:Password", "b"}});
  wish.goals[1].values["Password"] = "c";
  REQUIRE(SecretsOf(suite, wish)->values() ==
          Named{{"Password", "a"}, {"Password 2", "c"}, {"other:Password", "b"}});
}

}  // namespace shoal::operate
