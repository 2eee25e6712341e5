// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <string>

#include "redfish/catalog/catalog.h"
#include "tests/redfish/capture/shipped.h"

namespace shoal::redfish {
namespace {

using Json = nlohmann::json;

const Catalog& BuiltFrom(const std::string& name) {
  static std::map<std::string, std::shared_ptr<const Catalog>> built;
  auto& catalog = built[name];
  if (catalog == nullptr) catalog = Catalog::Build(Shipped(name), ShippedSchema()).value();
  return *catalog;
}

const Catalog& RackmountCatalog() { return BuiltFrom("dmtf-rackmount1"); }

const Candidate& Composed(const std::string& method, const std::string& uri) {
  for (const Candidate& candidate : RackmountCatalog().candidates()) {
    if (candidate.method == method && candidate.uri == uri && candidate.composes()) {
      return candidate;
    }
  }
  throw std::runtime_error("nothing composes " + method + " " + uri);
}

const Candidate* PartWith(const Candidate& composed, const Json& body) {
  const auto found = std::find_if(composed.parts->begin(), composed.parts->end(),
                                  [&](const Candidate& part) { return part.body == body; });
  return found == composed.parts->end() ? nullptr : &*found;
}

TEST_CASE("BIOS attributes are parts of a PATCH to the settings object") {
  const std::string bios = "/redfish/v1/Systems/437XR1138R2/Bios";
  const Candidate& composed = Composed("PATCH", bios + "/Settings");
  REQUIRE(PartWith(composed, {{"Attributes", {{"ProcHyperthreading", "Disabled"}}}}) != nullptr);
  REQUIRE(PartWith(composed, {{"Attributes", {{"ProcHyperthreading", "Enabled"}}}}) != nullptr);
  REQUIRE(composed.body.is_null());
  REQUIRE(composed.text.find("\"parts\":\"several\"") != std::string::npos);
  // The attributes in force are not set directly.
  for (const Candidate& candidate : RackmountCatalog().candidates()) {
    if (candidate.uri == bios && candidate.composes()) REQUIRE(candidate.parts->empty());
  }
}

TEST_CASE("A new volume may refer to the drives of its storage, by their place and name") {
  const Candidate* volumes = nullptr;
  for (const Candidate& candidate : BuiltFrom("hpe-dl380a-gen12").candidates()) {
    const bool is_it =
        candidate.method == "POST" && candidate.composes() && candidate.uri.ends_with("/Volumes");
    if (is_it) volumes = &candidate;
  }
  REQUIRE(volumes != nullptr);
  REQUIRE(PartWith(*volumes, {{"RAIDType", "RAID1"}}) != nullptr);
  const auto drive = std::find_if(
      volumes->parts->begin(), volumes->parts->end(),
      [](const Candidate& part) { return part.body.contains("/Links/Drives"_json_pointer); });
  REQUIRE(drive != volumes->parts->end());
  REQUIRE(drive->name.starts_with("first "));
  REQUIRE(
      drive->body.at("/Links/Drives/0/@odata.id"_json_pointer).get<std::string>().find("Drives") !=
      std::string::npos);
}

TEST_CASE("Merging adds members to lists of links and replaces other values") {
  Json body = Json::object();
  MergePart(body, {{"Links", {{"Drives", {{{"@odata.id", "/a"}}}}}}});
  MergePart(body, {{"Links", {{"Drives", {{{"@odata.id", "/b"}}}}}}, {"RAIDType", "RAID0"}});
  MergePart(body, {{"Links", {{"Drives", {{{"@odata.id", "/a"}}}}}}, {"RAIDType", "RAID1"}});
  const Json drives = {{{"@odata.id", "/a"}}, {{"@odata.id", "/b"}}};
  REQUIRE(body == Json{{"Links", {{"Drives", drives}}}, {"RAIDType", "RAID1"}});
  MergePart(body, {{"RAIDType", Json::array({"x"})}});
  REQUIRE(body.at("RAIDType") == Json::array({"x"}));
}

TEST_CASE("A candidate unifies with the bodies that its slots can make, and tells their values") {
  Candidate candidate;
  candidate.body = {{"UserName", SlotText("UserName")}, {"RoleId", "Operator"}};
  Slot user;
  user.name = "UserName";
  user.pointer = "/UserName";
  candidate.slots = {user};
  const auto values = Unify(candidate, {{"RoleId", "Operator"}, {"UserName", "eve"}});
  REQUIRE(values.has_value());
  REQUIRE(values->at("UserName") == "eve");
  REQUIRE_FALSE(Unify(candidate, {{"RoleId", "ReadOnly"}, {"UserName", "eve"}}));
  REQUIRE_FALSE(Unify(candidate, {{"RoleId", "Operator"}, {"UserName", 7}}));
  REQUIRE_FALSE(Unify(candidate, {{"RoleId", "Operator"}}));
  const Json more = {{"RoleId", "Operator"}, {"UserName", "eve"}, {"Enabled", true}};
  REQUIRE_FALSE(Unify(candidate, more));
  REQUIRE(UnifyPart(candidate, more).has_value());
  Candidate bare;
  REQUIRE(Unify(bare, nullptr).has_value());
  REQUIRE(Unify(bare, Json::object()).has_value());
}

}  // namespace
}  // namespace shoal::redfish
