// SPDX-License-Identifier: Apache-2.0
#include "text/lexical/phrases.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

namespace shoal::tokens {
namespace {

using nlohmann::json;

json CandidateOf(const char* method, const char* type, const json& body, const char* action = "") {
  return {{"method", method}, {"uri", "/redfish/v1/Systems/437XR"},
          {"type", type},     {"name", "Web Front End"},
          {"action", action}, {"body", body}};
}

std::string DeedIn(const json& candidate) { return SplitIntoPhrases(candidate.dump()).at(0).text; }

TEST_CASE("a request is put into words by its method, body and type") {
  const char* system = "#ComputerSystem.v1_18_0.ComputerSystem";
  REQUIRE(DeedIn(CandidateOf("PATCH", system, {{"Boot", {{"BootSourceOverrideTarget", "Pxe"}}}})) ==
          "set Boot Source Override Target to Pxe of Computer System");
  REQUIRE(DeedIn(CandidateOf("PATCH", system, {{"A", true}, {"B", 5}})) ==
          "set A to true and B to 5 of Computer System");
  REQUIRE(DeedIn(CandidateOf("POST", system, {{"ResetType", "ForceRestart"}},
                             "ComputerSystem.Reset")) ==
          "Reset Computer System with Reset Type Force Restart");
  REQUIRE(DeedIn(CandidateOf("POST", "#ManagerAccountCollection.ManagerAccountCollection",
                             {{"RoleId", "Operator"}})) ==
          "create Manager Account with Role Id Operator");
  REQUIRE(DeedIn(CandidateOf("PATCH", system, {{"A", "PciRoot(0x11)/Pci(0x6,0x0)/Pci(0x0)"}})) ==
          "set A to Pci Root 0 x 11 Pci 0 x of Computer System");
  REQUIRE(DeedIn(CandidateOf("GET", system, nullptr)) == "read Computer System");
  REQUIRE(DeedIn(CandidateOf("DELETE", "#Session.v1_3_0.Session", nullptr)) == "delete Session");
  REQUIRE(DeedIn({{"method", "WAIT"}, {"uri", ""}, {"type", ""}}) == "WAIT");
}

TEST_CASE("a slot leaves its value out, and a list is named by its elements") {
  const char* chassis = "#Chassis.v1_9_0.Chassis";
  REQUIRE(DeedIn(CandidateOf("PATCH", chassis, {{"AssetTag", "<goal.AssetTag>"}})) ==
          "set Asset Tag of Chassis");
  REQUIRE(DeedIn(CandidateOf("PATCH", chassis, {{"NTPServers", json::array({"<goal.NTP>"})}})) ==
          "set NTP Servers of Chassis");
}

TEST_CASE("requests of one kind share their phrases, and differ in name and URI") {
  const auto first = SplitIntoPhrases(CandidateOf("GET", "#Drive.v1_0_0.Drive", nullptr).dump());
  json other = CandidateOf("GET", "#Drive.v1_0_0.Drive", nullptr);
  other["uri"] = "/redfish/v1/Systems/2";
  other["name"] = "Second";
  const auto second = SplitIntoPhrases(other.dump());
  REQUIRE(first.at(0) == second.at(0));
  REQUIRE(first.at(1).text == "Web Front End");
  REQUIRE(first.at(2).text == "Systems");
  REQUIRE(first.at(2) == second.at(2));
  REQUIRE(first.at(3).text == "437 XR");
  REQUIRE(first != second);
  other["host"] = "rack7";
  REQUIRE(SplitIntoPhrases(other.dump()).size() == second.size() + 1);
}

TEST_CASE("a body has a phrase for each leaf, and deep ones weigh less") {
  const json body = {{"PowerState", "On"},
                     {"Status", {{"HealthRollup", "OK"}}},
                     {"Links", {{"@odata.id", "/redfish/v1/Chassis/1"}}},
                     {"Chassis", "/redfish/v1/Chassis/1"},
                     {"AssetTag", nullptr},
                     {"Reading", 21.5}};
  const std::vector<Phrase> expected = {
      {"Power State: On", 1}, {"Reading: 21 5", 1}, {"Health Rollup: OK", 0.5F}};
  REQUIRE(SplitIntoPhrases(body.dump()) == expected);
}

TEST_CASE("of a large body the shallowest leaves count") {
  json body;
  for (int i = 0; i < 40; ++i) body["A" + std::to_string(i)]["B"] = i;
  body["Z"] = "last";
  const auto phrases = SplitIntoPhrases(body.dump());
  REQUIRE(phrases.size() == kMaxPhrases);
  REQUIRE(phrases[0] == Phrase{"Z: last", 1});
  REQUIRE(phrases[1].weight == 0.5F);
}

TEST_CASE("a sentence stands as it is, and one that is too long is cut at a character") {
  REQUIRE(SplitIntoPhrases("Set AssetTag, please.") ==
          std::vector<Phrase>{{"Set AssetTag, please.", 1}});
  REQUIRE(SplitIntoPhrases("{ no JSON") == std::vector<Phrase>{{"{ no JSON", 1}});
  REQUIRE(SplitIntoPhrases("").empty());
  const std::string wide = std::string(kMaxPhraseBytes - 1, 'a') + "\u00e9\u00e9";
  REQUIRE(SplitIntoPhrases(wide).at(0).text == std::string(kMaxPhraseBytes - 1, 'a'));
}

TEST_CASE("the description of a value is a phrase as it stands") {
  REQUIRE(SplitIntoPhrases(R"({"choice":"value digits after from before to"})") ==
          std::vector<Phrase>{{"value digits after from before to", 1}});
}

TEST_CASE("a goal is its sentence") {
  REQUIRE(SplitIntoPhrases(R"({"around":["drop","set",""],"goal":"Drop kim7, set omar17"})") ==
          std::vector<Phrase>{{"Drop kim7, set omar17", 1}});
}

TEST_CASE("JSON of strange shapes becomes bounded phrases") {
  std::string deep = "{\"a\":1}";
  for (int i = 0; i < 5000; ++i) deep = "{\"a\":" + deep + "}";
  REQUIRE(SplitIntoPhrases(deep).size() <= kMaxPhrases);
  json candidate = CandidateOf("PATCH", "", {{"x", std::string(100000, 'y')}});
  REQUIRE(DeedIn(candidate).size() < 110000);
  candidate["uri"] = std::string(100000, '/') + "a/b";
  candidate["body"] = json::array({1, 2});
  candidate["action"] = 5;
  REQUIRE(SplitIntoPhrases(candidate.dump()).size() <= kMaxPhrases + 3);
  REQUIRE(SplitIntoPhrases("{\"method\":\"\xFF\",\"uri\":\"\"}").size() == 1);
}

}  // namespace
}  // namespace shoal::tokens
