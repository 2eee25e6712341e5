// SPDX-License-Identifier: Apache-2.0
#include "text/bpe/token_harvest.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "platform/content/canonical_json.h"
#include "tests/text/bpe/tokenizers.h"

namespace shoal::tokens {
namespace {

using nlohmann::json;
using Kind = TokenHarvest::Kind;

json System() {
  return json::parse(R"({
    "@odata.id": "/redfish/v1/Systems/1",
    "@odata.type": "#ComputerSystem.v1_13_0.ComputerSystem",
    "@odata.context": "/redfish/v1/$metadata#ComputerSystem.ComputerSystem",
    "Name": "never a token",
    "Actions": {"#ComputerSystem.Reset": {"target": "/redfish/v1/Systems/1/Actions/ComputerSystem.Reset",
      "ResetType@Redfish.AllowableValues": ["On", "ForceOff"]}},
    "Links": {"Chassis": [{"@odata.id": "/redfish/v1/Chassis/1"}]},
    "@Redfish.Settings": {"SettingsObject": {"@odata.id": "/redfish/v1/Systems/1/Settings"}, "Time": 3}})");
}

// Returns count and kind of a text. The count is 0 if it was not found.
TokenHarvest::Found Find(const TokenHarvest& harvest, const std::string& text) {
  for (const auto& found :
       harvest.Best({.minimum_count = 1, .minimum_length = 1, .limit = 100'000})) {
    if (found.text == text) return found;
  }
  return {};
}

TEST_CASE("names that a service says are found, with their kinds", "[token_harvest]") {
  TokenHarvest harvest;
  harvest.Add(System());
  const auto is = [&](const std::string& text, Kind kind) {
    const auto found = Find(harvest, text);
    INFO(text);
    return found.count == 1 && found.kind == kind;
  };
  REQUIRE(is("/redfish/v1/Systems/1", Kind::kUri));
  REQUIRE(is("/redfish/v1/Chassis/1", Kind::kUri));
  REQUIRE(is("/redfish/v1/Systems/1/Actions/ComputerSystem.Reset", Kind::kUri));
  REQUIRE(is("#ComputerSystem.v1_13_0.ComputerSystem", Kind::kType));
  REQUIRE(is("/redfish/v1/$metadata#ComputerSystem.ComputerSystem", Kind::kContext));
  REQUIRE(is("#ComputerSystem.Reset", Kind::kAction));
  REQUIRE(is("ResetType@Redfish.AllowableValues", Kind::kAllowable));
  REQUIRE(is("ForceOff", Kind::kAllowable));
  REQUIRE(is("SettingsObject", Kind::kSettings));
  REQUIRE(Find(harvest, "never a token").count == 0);
  REQUIRE(Find(harvest, "Name").count == 0);
}

TEST_CASE("structure is what stands between strings of canonical JSON", "[token_harvest]") {
  TokenHarvest harvest;
  harvest.Add(json::parse(R"({"a":{"b":"x\"y"},"c":[1,null,{"d":[]}]})"));
  for (const std::string text : {"{\"", "\":{\"", "\":\"", "\"},\"", "\":[", ",{\"", "\":[]}]}"}) {
    INFO(text);
    REQUIRE(Find(harvest, text).count == 1);
    REQUIRE(Find(harvest, text).kind == Kind::kStructure);
  }
  REQUIRE(Find(harvest, "x").count == 0);
}

TEST_CASE("what is rare, short or past the limit is left out", "[token_harvest]") {
  TokenHarvest harvest;
  for (int i = 0; i < 5; ++i) {
    harvest.Add({{"x@Redfish.AllowableValues", json::array({"On", "LongerValue"})}});
  }
  harvest.Add({{"x@Redfish.AllowableValues", json::array({"Once"})}});
  const auto texts = [&](const TokenHarvest::Options& options) {
    std::vector<std::string> found;
    for (const auto& one : harvest.Best(options)) found.push_back(one.text);
    return found;
  };
  using Texts = std::vector<std::string>;
  REQUIRE(texts({.minimum_count = 2, .minimum_length = 5, .limit = 10}) ==
          Texts{"x@Redfish.AllowableValues", "LongerValue"});
  REQUIRE(texts({.minimum_count = 1, .minimum_length = 2, .limit = 1}) ==
          Texts{"x@Redfish.AllowableValues"});
  REQUIRE(texts({.minimum_count = 1, .minimum_length = 2, .limit = 0}).empty());
  REQUIRE(texts({.minimum_count = 7, .minimum_length = 1, .limit = 10}).empty());
}

TEST_CASE("documents in any order give the same tokens, which a tokenizer takes",
          "[token_harvest]") {
  json other = System();
  other["@odata.id"] = "/redfish/v1/Systems/10";
  TokenHarvest forwards;
  forwards.Add(System());
  forwards.Add(other);
  TokenHarvest backwards;
  backwards.Add(other);
  backwards.Add(System());
  const TokenHarvest::Options options{.minimum_count = 1, .minimum_length = 2, .limit = 100};
  const auto tokens = TokenHarvest::Tokens(forwards.Best(options), *Gpt2());
  REQUIRE(tokens == TokenHarvest::Tokens(backwards.Best(options), *Gpt2()));
  // Tokens that GPT-2 has already are left out.
  for (const AddedToken& token : tokens) REQUIRE(token.content != "On");

  const auto extended = Gpt2()->Extend(tokens);
  REQUIRE(extended.ok());
  const std::string text = content::CanonicalJson(System());
  const Ids ids = IdsOf(**extended, text);
  REQUIRE(ids.size() * 2 < IdsOf(*Gpt2(), text).size());
  REQUIRE((*extended)->Decode(ids).value() == text);
  // The token of /redfish/v1/Systems/1 is not found in a longer name.
  const auto longer = TokensOf(**extended, "\"/redfish/v1/Systems/12\"");
  REQUIRE(std::find(longer.begin(), longer.end(), "/redfish/v1/Systems/1") == longer.end());
}

}  // namespace
}  // namespace shoal::tokens
