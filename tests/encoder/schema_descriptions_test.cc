// SPDX-License-Identifier: Apache-2.0
#include "encoder/schema_descriptions.h"

#include <catch2/catch.hpp>

#include "platform/runtime/atomic_file.h"
#include "tests/doubles/temporary_folder.h"

namespace shoal::encoder {
namespace {

using nlohmann::json;

const SchemaDescriptions& Shipped() {
  static const auto kShipped = SchemaDescriptions::Load("data/schema/json-schema.tar.xz").value();
  return *kShipped;
}

redfish::Candidate Request(const char* method, const char* type, const json& body,
                           const char* action = "") {
  redfish::Candidate candidate;
  candidate.method = method;
  candidate.type = type;
  candidate.body = body;
  candidate.action = action;
  return candidate;
}

constexpr const char* kSystem = "#ComputerSystem.v1_13_0.ComputerSystem";

TEST_CASE("a property is described, and its value where the standard lists values") {
  const auto tag = Shipped().Of(Request("PATCH", kSystem, {{"AssetTag", "<goal.AssetTag>"}}));
  REQUIRE(tag == std::set<std::string>{"The user-definable tag that can track this computer system "
                                       "for inventory or other client purposes."});
  const auto pxe =
      Shipped().Of(Request("PATCH", kSystem, {{"Boot", {{"BootSourceOverrideTarget", "Pxe"}}}}));
  REQUIRE(pxe.size() == 2);
  REQUIRE(pxe.contains("Boot from the Pre-boot eXecution Environment (PXE)."));
  for (const std::string& text : pxe) REQUIRE(text.find('`') == std::string::npos);
}

TEST_CASE("an action is described with its parameters' values") {
  const auto on =
      Shipped().Of(Request("POST", kSystem, {{"ResetType", "On"}}, "ComputerSystem.Reset"));
  REQUIRE(on.contains("This action resets the system. Turn on the unit."));
  const auto bare =
      Shipped().Of(Request("POST", kSystem, nullptr, "ComputerSystem.SetDefaultBootOrder"));
  REQUIRE(bare.size() == 1);
}

TEST_CASE("lists and switches are described, and what the standard does not know is not") {
  REQUIRE_FALSE(Shipped()
                    .Of(Request("PATCH", kSystem,
                                {{"Boot", {{"BootOrder", json::array({"<goal.BootOrder>"})}}}}))
                    .empty());
  const auto led = Shipped().Of(Request("PATCH", kSystem, {{"LocationIndicatorActive", true}}));
  REQUIRE(led.size() == 1);
  REQUIRE(led.begin()->ends_with("Enabled, true."));
  REQUIRE(Shipped().Of(Request("PATCH", kSystem, {{"Oem", {{"Vendor", {{"A", 1}}}}}})).empty());
  REQUIRE(Shipped().Of(Request("PATCH", "#OemThing.v1_0_0.OemThing", {{"A", 1}})).empty());
  REQUIRE(Shipped().Of(Request("GET", kSystem, nullptr)).empty());
  REQUIRE(Shipped().Of(Request("POST", kSystem, nullptr, "Oem.Explode")).empty());
}

TEST_CASE("documents of any shape are read without a crash, and no JSON is an error") {
  const doubles::TemporaryFolder folder;
  const auto write = [&](const std::string& name, const std::string& bytes) {
    REQUIRE(runtime::WriteFileAtomically(folder.At(name), bytes).ok());
  };
  // A reference in a circle, one into nothing, and members of other kinds than expected.
  write("A.v1_0_0.json", R"({"definitions":{"A":{"properties":{
      "Circle":{"$ref":"#/definitions/A","description":"round"},
      "Lost":{"$ref":"http://x/None.json#/definitions/B"},
      "Odd":{"anyOf":{"$ref":1},"enumDescriptions":[1],"description":5},
      "Said":{"description":"as it stands"}}}}})");
  const auto loaded = SchemaDescriptions::Load(folder.path());
  REQUIRE(loaded.ok());
  const auto of = [&](const json& body) {
    return (*loaded)->Of(Request("PATCH", "#A.v1_0_0.A", body));
  };
  json deep = 1;
  for (int i = 0; i < 100; ++i) deep = json{{"Circle", deep}};
  REQUIRE(of(deep).empty());
  REQUIRE(of({{"Lost", 1}, {"Odd", "x"}}).empty());
  REQUIRE(of({{"Said", 1}}) == std::set<std::string>{"as it stands"});
  write("B.json", "[]");
  REQUIRE(absl::IsDataLoss(SchemaDescriptions::Load(folder.path()).status()));
  REQUIRE(absl::IsNotFound(SchemaDescriptions::Load(folder.At("none")).status()));
}

}  // namespace
}  // namespace shoal::encoder
