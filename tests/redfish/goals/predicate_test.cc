// SPDX-License-Identifier: Apache-2.0
#include "redfish/goals/predicate.h"

#include <catch2/catch.hpp>
#include <string>

#include "tests/redfish/goals/fake_state.h"

namespace shoal::redfish {
namespace {

using Json = nlohmann::json;

FakeState TwoSystems() {
  FakeState state;
  state.resources["/s"] =
      Json::parse(R"({"Members": [{"@odata.id": "/s/1"}, {"@odata.id": "/s/2/"}]})");
  state.resources["/s/1"] = Json::parse(R"({"PowerState": "On", "Count": 2, "Tags": ["a", "b"]})");
  state.resources["/s/2"] = Json::parse(R"({"PowerState": "Off", "Count": 2.0, "AssetTag": null})");
  state.records = {{"reset", "/s/1", {{"ResetType", "ForceOff"}}, 1.0},
                   {"boot", "/s/1", {{"target", "Pxe"}}, 2.0},
                   {"boot", "/s/2", {{"target", "Hdd"}}, 3.0}};
  return state;
}

bool Holds(const std::string& text) {
  static const FakeState state = TwoSystems();
  const auto predicate = Predicate::Parse(Json::parse(text));
  REQUIRE(predicate.ok());
  return predicate->Evaluate(state);
}

std::string Refusal(const std::string& text) {
  const auto predicate = Predicate::Parse(Json::parse(text));
  REQUIRE(predicate.status().code() == absl::StatusCode::kInvalidArgument);
  return std::string(predicate.status().message());
}

TEST_CASE("Comparisons read the property that the pointer names") {
  REQUIRE(Holds(R"({"equals": {"uri": "/s/1/", "pointer": "/PowerState", "value": "On"}})"));
  REQUIRE_FALSE(Holds(R"({"equals": {"uri": "/s/2", "pointer": "/PowerState", "value": "On"}})"));
  REQUIRE(Holds(R"({"not_equals": {"uri": "/s/2", "pointer": "/PowerState", "value": "On"}})"));
  REQUIRE(Holds(R"({"in": {"uri": "/s/1", "pointer": "/PowerState", "values": ["Off", "On"]}})"));
  REQUIRE(Holds(R"({"contains": {"uri": "/s/1", "pointer": "/Tags", "value": "b"}})"));
  REQUIRE_FALSE(Holds(R"({"contains": {"uri": "/s/1", "pointer": "/Tags", "value": "c"}})"));
  REQUIRE(Holds(R"({"prefix": {"uri": "/s/1", "pointer": "/Tags/0", "value": "a"}})"));
  REQUIRE(Holds(R"({"exists": {"uri": "/s/2", "pointer": "/AssetTag"}})"));
  REQUIRE(Holds(R"({"equals": {"uri": "/s/2", "pointer": "/Count", "value": 2}})"));
}

TEST_CASE("A comparison with what is absent is false, not_equals too") {
  REQUIRE_FALSE(Holds(R"({"exists": {"uri": "/s/3", "pointer": ""}})"));
  REQUIRE_FALSE(Holds(R"({"not_equals": {"uri": "/s/1", "pointer": "/AssetTag", "value": 1}})"));
  REQUIRE(Holds(R"({"not": {"exists": {"uri": "/s/1", "pointer": "/AssetTag"}}})"));
}

TEST_CASE("Objects are compared without the members that are excepted") {
  const std::string where = R"({"equals": {"uri": "/s/1", "pointer": "", "value": )";
  const std::string but_tags = R"({"PowerState": "On", "Count": 2}, "except": ["Tags"]}})";
  REQUIRE(Holds(where + but_tags));
  REQUIRE_FALSE(Holds(where + R"({"PowerState": "On", "Count": 2}, "except": ["Other"]}})"));
  REQUIRE_FALSE(Holds(where + R"({"PowerState": "On", "Count": 3}, "except": ["Tags"]}})"));
  REQUIRE_FALSE(
      Holds(where + R"({"PowerState": "On", "Count": 2, "More": 1}, "except": ["Tags"]}})"));
  REQUIRE(Holds(where + R"({"PowerState": "On", "Count": 2, "Tags": 0}, "except": ["Tags"]}})"));
  REQUIRE(Refusal(where + R"({}, "except": "Tags"}})").find("except") != std::string::npos);
  REQUIRE(Refusal(where + R"({}, "except": [1]}})").find("except") != std::string::npos);
  REQUIRE(Refusal(R"({"exists": {"uri": "/s/1", "pointer": "", "except": []}})").find("except") !=
          std::string::npos);
}

TEST_CASE("Quantifiers go over a collection's members or over named resources") {
  const std::string on = R"("holds": {"equals": {"pointer": "/PowerState", "value": "On"}})";
  REQUIRE(Holds(R"({"some": {"members": "/s", )" + on + "}}"));
  REQUIRE_FALSE(Holds(R"({"every": {"members": "/s", )" + on + "}}"));
  REQUIRE(Holds(R"({"every": {"uris": ["/s/1"], )" + on + "}}"));
  REQUIRE_FALSE(Holds(R"({"every": {"members": "/missing", )" + on + "}}"));
  REQUIRE(Holds(R"({"every": {"members": "/s", "holds": {"any": [
      {"equals": {"pointer": "/PowerState", "value": "On"}},
      {"exists": {"pointer": "/AssetTag"}}]}}})"));
}

TEST_CASE("History conditions count records of a kind, a resource and a detail") {
  REQUIRE(Holds(R"({"happened": {"kind": "boot", "uri": "/s/1", "detail": {"target": "Pxe"}}})"));
  REQUIRE_FALSE(
      Holds(R"({"happened": {"kind": "boot", "uri": "/s/2", "detail": {"target": "Pxe"}}})"));
  REQUIRE(Holds(R"({"happened": {"kind": "boot", "at_least": 2}})"));
  REQUIRE_FALSE(Holds(R"({"happened": {"kind": "boot", "at_most": 1}})"));
  REQUIRE(Holds(R"({"happened": {"kind": "task", "at_least": 0, "at_most": 0}})"));
  REQUIRE_FALSE(
      Holds(R"({"not": {"happened": {"kind": "reset", "detail": {"ResetType": "ForceOff"}}}})"));
}

TEST_CASE("all of nothing holds, any of nothing does not") {
  REQUIRE(Holds(R"({"all": []})"));
  REQUIRE_FALSE(Holds(R"({"any": []})"));
}

TEST_CASE("A wrong predicate is refused, naming the part") {
  REQUIRE(Refusal(R"({"equal": {}})").find("\"equal\"") != std::string::npos);
  REQUIRE(Refusal(R"({"equals": {"uri": "/a", "pointer": "/b"}})").find("value") !=
          std::string::npos);
  REQUIRE(Refusal(R"({"equals": {"pointer": "/b", "value": 1}})").find("uri") != std::string::npos);
  REQUIRE(Refusal(R"({"exists": {"uri": "/a", "pointer": "b"}})").find("'/'") != std::string::npos);
  REQUIRE(Refusal(R"({"exists": {"uri": "/a", "pointer": "/b", "extra": 1}})").find("extra") !=
          std::string::npos);
  REQUIRE(Refusal(R"({"in": {"uri": "/a", "pointer": "/b", "values": 1}})").find("array") !=
          std::string::npos);
  REQUIRE(Refusal(R"({"every": {"holds": {"all": []}}})").find("members") != std::string::npos);
  Refusal(R"({"happened": {"uri": "/a"}})");
  Refusal(R"({"all": {}})");
  Refusal(R"([])");
  Refusal(R"({"all": [], "any": []})");
}

TEST_CASE("Nesting beyond the limit is refused, not followed") {
  Json deep = Json::parse(R"({"all": []})");
  for (int i = 0; i < 10000; ++i) {
    Json outer = Json::object();
    outer["not"] = std::move(deep);
    deep = std::move(outer);
  }
  const auto predicate = Predicate::Parse(deep);
  REQUIRE(predicate.status().code() == absl::StatusCode::kInvalidArgument);
}

TEST_CASE("A condition of a resource may leave its URI out") {
  const FakeState state = TwoSystems();
  const Json on = Json::parse(
      R"({"all": [{"equals": {"pointer": "/PowerState", "value": "On"}},
                  {"exists": {"uri": "/s/2", "pointer": "/AssetTag"}},
                  {"some": {"members": "/s", "holds": {"equals": {"pointer": "/PowerState", "value": "Off"}}}}]})");
  REQUIRE_FALSE(Predicate::Parse(on).ok());
  const Predicate predicate = Predicate::ParseOfResource(on).value();
  REQUIRE(predicate.Evaluate(state, "/s/1"));
  REQUIRE_FALSE(predicate.Evaluate(state, "/s/2"));
  REQUIRE_FALSE(predicate.Evaluate(state, "/s/3"));
  REQUIRE_FALSE(predicate.Evaluate(state));
  REQUIRE(predicate.json() == on);
}

TEST_CASE("Exactly so many members fulfil a condition") {
  FakeState state;
  state.Edit("/c") = {{"Members", {{{"@odata.id", "/c/1"}}, {{"@odata.id", "/c/2"}}}}};
  state.Edit("/c/1") = {{"Type", "a"}};
  state.Edit("/c/2") = {{"Type", "a"}};
  const auto holds = [&](int count) {
    const nlohmann::json condition = {
        {"exactly",
         {{"members", "/c"},
          {"count", count},
          {"holds", {{"equals", {{"pointer", "/Type"}, {"value", "a"}}}}}}}};
    return Predicate::Parse(condition)->Evaluate(state);
  };
  REQUIRE(holds(2));
  REQUIRE_FALSE(holds(1));
  state.Edit("/c/2") = {{"Type", "b"}};
  REQUIRE(holds(1));
}

TEST_CASE("A password is in force for nobody where the tree is all that is seen") {
  const FakeState state;
  const nlohmann::json condition = {{"has_password", {{"uri", "/a"}, {"value", "x"}}}};
  REQUIRE_FALSE(Predicate::Parse(condition)->Evaluate(state));
  REQUIRE_FALSE(Predicate::Parse({{"has_password", {{"uri", "/a"}}}}).ok());
  REQUIRE_FALSE(Predicate::Parse({{"has_password", {{"value", "x"}}}}).ok());
}

}  // namespace
}  // namespace shoal::redfish
