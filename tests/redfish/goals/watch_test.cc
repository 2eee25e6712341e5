// SPDX-License-Identifier: Apache-2.0
#include "redfish/goals/watch.h"

#include <catch2/catch.hpp>

#include "tests/redfish/capture/shipped.h"
#include "tests/redfish/goals/fake_state.h"

namespace shoal::redfish {
namespace {

using Json = nlohmann::json;

Watch Parse(const Json& json) {
  auto watch = Watch::Parse(json);
  REQUIRE(watch.ok());
  return *std::move(watch);
}

Json Equals(const char* pointer, const Json& value) {
  return {{"equals", {{"uri", "/s"}, {"pointer", pointer}, {"value", value}}}};
}

TEST_CASE("A milestone once reached stays reached, the goal does not") {
  const Watch watch =
      Parse({{"predicate", Equals("/B", 1)}, {"milestones", {Equals("/A", 1), Equals("/A", 2)}}});
  FakeState state;
  Progress progress;
  state.resources["/s"] = {{"A", 1}, {"B", 1}};
  watch.Update(state, progress);
  REQUIRE(progress.satisfied);
  REQUIRE(progress.milestones == 1);
  state.resources["/s"] = {{"A", 2}, {"B", 0}};
  watch.Update(state, progress);
  REQUIRE_FALSE(progress.satisfied);
  REQUIRE(progress.milestones == 3);
}

TEST_CASE("The requirements of a goal are told one by one, without their values") {
  const Json bit = {{"not", {{"exists", {{"uri", "/s"}, {"pointer", "/C"}}}}}};
  const Json each = {
      {"every", {{"members", "/all"}, {"holds", {{"equals", {{"pointer", "/P"}, {"value", 7}}}}}}}};
  const Json either = {
      {"any",
       {{{"happened", {{"kind", "boot"}, {"detail", {{"target", "Pxe"}}}}}}, Equals("/D", "x")}}};
  const Watch watch =
      Parse({{"predicate", {{"all", {Equals("/A", 1), {{"all", {bit, each}}}, either}}}}});
  REQUIRE(watch.OpenRequirements({.open = 0b1111}) ==
          std::vector<std::string>{"any of (happened boot; equals /s /D)", "equals /s /A",
                                   "every /all (equals /P)", "not exists /s /C"});
  REQUIRE(watch.OpenRequirements({.open = 0b0100}) ==
          std::vector<std::string>{"every /all (equals /P)"});
  REQUIRE(watch.OpenRequirements({}).empty());

  FakeState state;
  Progress progress;
  state.resources["/s"] = {{"A", 1}, {"C", 0}};
  state.resources["/all"] = {{"Members", Json::array()}};
  watch.Update(state, progress);
  REQUIRE(progress.open == 0b1010);
  REQUIRE_FALSE(progress.satisfied);
  state.resources["/s"] = {{"A", 2}, {"D", "x"}};
  watch.Update(state, progress);
  REQUIRE(progress.open == 0b0001);
  state.resources["/s"] = {{"A", 1}, {"D", "x"}};
  watch.Update(state, progress);
  REQUIRE(progress.open == 0);
  REQUIRE(progress.satisfied);

  REQUIRE(Parse({{"predicate", Equals("/A", 1)}}).OpenRequirements({.open = 1}) ==
          std::vector<std::string>{"equals /s /A"});
  Json many = Json::array();
  for (int i = 0; i < 70; ++i) many.push_back(Equals("/A", i == 69 ? 2 : 1));
  const Watch large = Parse({{"predicate", {{"all", many}}}});
  large.Update(state, progress);
  REQUIRE(progress.open == std::uint64_t{1} << 63);
  REQUIRE_FALSE(progress.satisfied);
  REQUIRE(large.OpenRequirements(progress) == std::vector<std::string>{"one of 7 more"});
  REQUIRE(large.OpenRequirements({.open = 0b110}) == std::vector<std::string>{"equals /s /A"});
}

TEST_CASE("An allowed pointer covers what is below it and nothing beside it") {
  const Watch watch = Parse(
      {{"predicate", Equals("/A", 1)}, {"allowed", {{{"uri", "/s/"}, {"pointer", "/Boot"}}}}});
  REQUIRE(watch.Allows("/s", "/Boot"));
  REQUIRE(watch.Allows("/s", "/Boot/BootOrder"));
  REQUIRE_FALSE(watch.Allows("/s", "/BootProgress"));
  REQUIRE_FALSE(watch.Allows("/t", "/Boot"));
}

TEST_CASE("Changed leaves are named, annotations are not") {
  const Json before = Json::parse(R"({"A": {"B": 1, "C": [1]}, "D": 1, "@odata.etag": "1"})");
  const Json after = Json::parse(R"({"A": {"B": 2, "C": [1, 2]}, "E": 1, "@odata.etag": "2"})");
  const std::vector<std::string> expected = {"/A/B", "/A/C", "/D", "/E"};
  REQUIRE(ChangedLeaves(before, after) == expected);
  REQUIRE(ChangedLeaves(before, before).empty());
}

TEST_CASE("Side effects are writable properties and the power state, less what is allowed") {
  const std::string uri = "/redfish/v1/Systems/system";
  const Json& before = *Shipped("openbmc-stock").Find(uri);
  Json after = before;
  after["PowerState"] = "On";
  after["IndicatorLED"] = "Lit";
  after["LocationIndicatorActive"] = true;
  after["Status"]["State"] = "Enabled?";
  const Watch watch = Parse({{"predicate", {{"all", Json::array()}}},
                             {"allowed", {{{"uri", uri}, {"pointer", "/IndicatorLED"}}}}});
  const std::vector<std::string> expected = {"/LocationIndicatorActive", "/PowerState"};
  REQUIRE(SideEffects(ShippedSchema(), watch, uri, before, after) == expected);
}

TEST_CASE("A watch survives its JSON, and wrong ones are refused") {
  const Json json = {{"predicate", Equals("/A", 1)},
                     {"milestones", {Equals("/B", 1)}},
                     {"allowed", {{{"uri", "/s"}, {"pointer", "/A"}}}}};
  REQUIRE(Parse(json).ToJson() == json);
  REQUIRE_FALSE(Watch::Parse(Json::object()).ok());
  REQUIRE_FALSE(Watch::Parse({{"predicate", Equals("/A", 1)}, {"extra", 1}}).ok());
  REQUIRE_FALSE(Watch::Parse({{"predicate", Equals("/A", 1)}, {"allowed", {1}}}).ok());
  Json many = json;
  many["milestones"] = Json::array();
  for (int i = 0; i < 65; ++i) many["milestones"].push_back(Equals("/B", i));
  REQUIRE(Watch::Parse(many).status().code() == absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace shoal::redfish
