// SPDX-License-Identifier: Apache-2.0
#include "mockserver/resources/settings.h"

#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "redfish/schema/attribute_registry.h"
#include "tests/mockserver/service/worlds.h"

namespace shoal::mockserver {
namespace {

struct Bios {
  explicit Bios(const std::string& capture) : instance(WorldOf(capture)) {
    system = LandmarksOf(instance.world()).system;
    active = redfish::LinkTarget(At(instance, system, "/Bios"));
    settings = redfish::LinkTarget(At(instance, active, "/@Redfish.Settings/SettingsObject"));
    registry = instance.world().FindAttributeRegistry(
        At(instance, active, "/AttributeRegistry").get<std::string>());
  }

  // An enumerated attribute, and another value that its registry, if there is one, allows.
  struct Change {
    std::string name;
    Json before;
    Json after;
  };
  Change Free() const {
    const Json attributes = At(instance, active, "/Attributes");
    for (const auto& [name, value] : attributes.items()) {
      for (const char* other : {"Enabled", "Disabled"}) {
        if (!value.is_string() || value == other) continue;
        Json asked = attributes;
        asked[name] = other;
        const bool fits = registry == nullptr
                              ? value == "Enabled" || value == "Disabled"
                              : registry->Misfit(name, other, asked).empty() &&
                                    !registry->Misfit(name, "NoSuchValue", asked).empty();
        if (fits) return {name, value, other};
      }
    }
    FAIL("no attribute can be changed");
    return {};
  }
  Response Write(const Json& attributes) {
    return Patch(instance, settings, {{"Attributes", attributes}});
  }

  Instance instance;
  std::string system;
  std::string active;
  std::string settings;
  const redfish::AttributeRegistry* registry = nullptr;
};

}  // namespace

TEST_CASE("A BIOS attribute is pending until the system boots, and current from then on") {
  for (const std::string& name : kWithBios) {
    INFO(name);
    Bios bios(name);
    const Bios::Change change = bios.Free();
    INFO(change.name);
    const std::string pointer = "/Attributes/" + change.name;
    const Json untouched = At(bios.instance, bios.settings, "/Attributes");
    Json expected = At(bios.instance, bios.active, "/Attributes");
    expected[change.name] = change.after;
    REQUIRE(bios.Write({{change.name, change.after}}).status == 200);
    REQUIRE(At(bios.instance, bios.active, pointer) == change.before);
    REQUIRE(At(bios.instance, bios.settings, pointer) == change.after);
    REQUIRE(ResetOf(bios.instance, bios.system, "ForceOff").status < 300);
    REQUIRE(At(bios.instance, bios.active, pointer) == change.before);
    REQUIRE(ResetOf(bios.instance, bios.system, "On").status < 300);
    REQUIRE(At(bios.instance, bios.active, "/Attributes") == expected);
    const Json applied = *bios.instance.Find(bios.active);
    bios.instance.Advance(std::chrono::hours(1));
    REQUIRE(ResetOf(bios.instance, bios.system, "ForceRestart").status < 300);
    REQUIRE(*bios.instance.Find(bios.active) == applied);
    // The settings object still lists only pending attributes, or all of them, as it did before.
    REQUIRE(At(bios.instance, bios.settings, "/Attributes").size() == untouched.size());
    if (At(bios.instance, bios.active, "/@Redfish.Settings").contains("Time")) {
      REQUIRE(At(bios.instance, bios.active, "/@Redfish.Settings/Time") == "1970-01-01T00:00:00Z");
    }
  }
}

TEST_CASE("A boot without anything pending changes no BIOS") {
  for (const std::string& name : kWithBios) {
    Bios bios(name);
    const Json before = *bios.instance.Find(bios.active);
    REQUIRE(ResetOf(bios.instance, bios.system, "ForceRestart").status < 300);
    REQUIRE(*bios.instance.Find(bios.active) == before);
  }
}

TEST_CASE("The BIOS itself takes no attributes where it has a settings object") {
  for (const std::string& name : kWithBios) {
    Bios bios(name);
    const Bios::Change change = bios.Free();
    const Response response =
        Patch(bios.instance, bios.active, {{"Attributes", {{change.name, change.after}}}});
    REQUIRE(response.status == 400);
    REQUIRE(Messages(response) == std::vector<std::string>{"PropertyNotWritable"});
  }
}

TEST_CASE("Attributes that nobody knows and values that do not fit are refused by name") {
  for (const std::string& name : kWithBios) {
    INFO(name);
    Bios bios(name);
    const Bios::Change change = bios.Free();
    REQUIRE(Messages(bios.Write({{"NoSuchAttribute", "x"}})) ==
            std::vector<std::string>{"PropertyUnknown"});
    REQUIRE(Messages(bios.Write({{change.name, 5}})) ==
            std::vector<std::string>{"PropertyValueTypeError"});
    REQUIRE(Patch(bios.instance, bios.settings, {{"Attributes", 5}}).status == 400);
    REQUIRE(bios.instance.changed_resources() == 0);
    const Response partly = bios.Write({{change.name, change.after}, {"NoSuchAttribute", "x"}});
    REQUIRE(partly.status == 200);
    REQUIRE(At(bios.instance, bios.settings, "/Attributes/" + change.name) == change.after);
    if (bios.registry != nullptr) {
      REQUIRE(Messages(bios.Write({{change.name, "NoSuchValue"}})) ==
              std::vector<std::string>{"PropertyValueNotInList"});
    }
  }
}

TEST_CASE("A dependency of the registry forbids an attribute until what it depends on allows it") {
  Bios bios("dell-r750");
  const Json protocol = {{"HttpDev2Protocol", "IPv6"}};
  REQUIRE(At(bios.instance, bios.active, "/Attributes/HttpDev2EnDis") == "Disabled");
  REQUIRE(Messages(bios.Write(protocol)) == std::vector<std::string>{"PropertyNotWritable"});
  Json both = protocol;
  both["HttpDev2EnDis"] = "Enabled";
  const Response response = bios.Write(both);
  INFO(*response.body);
  REQUIRE(response.status == 200);
  REQUIRE(At(bios.instance, bios.settings, "/Attributes/HttpDev2Protocol") == "IPv6");
}

TEST_CASE("A registry's bounds, lengths, terms and orders hold") {
  const Json condition = {{"MapFromAttribute", "Count"},
                          {"MapFromProperty", "CurrentValue"},
                          {"MapFromCondition", "GTR"},
                          {"MapFromValue", 4}};
  Json alternative = {{"MapFromAttribute", "On"},
                      {"MapFromProperty", "CurrentValue"},
                      {"MapFromCondition", "EQU"},
                      {"MapFromValue", true},
                      {"MapTerms", "OR"}};
  const Json dependency = {{"Dependency",
                            {{"MapFrom", {condition, alternative}},
                             {"MapToAttribute", "Name"},
                             {"MapToProperty", "ReadOnly"},
                             {"MapToValue", true}}}};
  const Json json = {
      {"@odata.type", "#AttributeRegistry.v1_3_6.AttributeRegistry"},
      {"Id", "R.v1"},
      {"RegistryEntries",
       {{"Attributes",
         {{{"AttributeName", "Count"}, {"Type", "Integer"}, {"LowerBound", 1}, {"UpperBound", 8}},
          {{"AttributeName", "Name"}, {"Type", "String"}, {"MinLength", 2}, {"MaxLength", 3}},
          {{"AttributeName", "On"}, {"Type", "Boolean"}},
          {{"AttributeName", "Serial"}, {"Type", "String"}, {"ReadOnly", true}}}},
        {"Dependencies", {dependency}}}}};
  const auto registry = redfish::AttributeRegistry::Parse(json);
  REQUIRE(registry);
  REQUIRE(registry->id() == "R.v1");
  const Json quiet = {{"Count", 4}, {"On", false}};
  REQUIRE(registry->Misfit("Count", 8, quiet).empty());
  REQUIRE(registry->Misfit("Count", 9, quiet) == "PropertyValueOutOfRange");
  REQUIRE(registry->Misfit("Count", 1.5, quiet) == "PropertyValueTypeError");
  REQUIRE(registry->Misfit("Name", "abc", quiet).empty());
  REQUIRE(registry->Misfit("Name", "abcd", quiet) == "PropertyValueFormatError");
  REQUIRE(registry->Misfit("Name", "a", quiet) == "PropertyValueFormatError");
  REQUIRE(registry->Misfit("On", "true", quiet) == "PropertyValueTypeError");
  REQUIRE(registry->Misfit("Serial", "x", quiet) == "PropertyNotWritable");
  REQUIRE(registry->Misfit("Name", "abc", {{"Count", 5}, {"On", false}}) == "PropertyNotWritable");
  REQUIRE(registry->Misfit("Name", "abc", {{"Count", 1}, {"On", true}}) == "PropertyNotWritable");
  using Names = std::set<std::string>;
  REQUIRE(registry->Lockable() == std::vector<std::string>{"Name"});
  REQUIRE(registry->LocksOf("Name", quiet).empty());
  REQUIRE(registry->LocksOf("Name", {{"Count", 5}, {"On", false}}) == Names{"Count"});
  REQUIRE(registry->LocksOf("Name", {{"Count", 5}, {"On", true}}) == Names{"Count", "On"});
  REQUIRE(registry->LocksOf("Count", {{"Count", 5}, {"On", true}}).empty());
  REQUIRE_FALSE(redfish::AttributeRegistry::Parse(Json::object()));
  REQUIRE_FALSE(redfish::AttributeRegistry::Parse({{"@odata.type", "#AttributeRegistry.v1.x"}}));
}

TEST_CASE("What a system's own settings object takes is the system's from its next boot") {
  const std::string capture = "hpe-dl380a-gen12";
  const std::string system = LandmarksOf(*WorldOf(capture)).system;
  const std::string settings = system + "/Pending";
  Json active = *WorldOf(capture)->capture().Find(system);
  active["@Redfish.Settings"] = {{"SettingsObject", {{"@odata.id", settings}}}};
  const Json pending = {
      {"@odata.id", settings},
      {"@odata.type", active.at("@odata.type")},
      {"Id", "Pending"},
      {"Name", "Pending"},
      {"AssetTag", ""},
      {"Boot", {{"BootSourceOverrideTarget", "None"}, {"BootSourceOverrideEnabled", "Disabled"}}}};
  Instance instance(WorldWith(capture, {{system, active}, {settings, pending}}));
  Json order = At(instance, system, "/Boot/BootOrder");
  std::swap(order[0], order[1]);
  const Json asked = {{"AssetTag", "rack-7"},
                      {"Boot",
                       {{"BootSourceOverrideTarget", "Cd"},
                        {"BootSourceOverrideEnabled", "Once"},
                        {"BootOrder", order}}}};
  REQUIRE(Patch(instance, settings, asked).status == 200);
  REQUIRE(At(instance, system, "/AssetTag") != "rack-7");
  REQUIRE(At(instance, settings, "/Boot/BootOrder") == order);
  Boot(instance, system);
  REQUIRE(At(instance, system, "/AssetTag") == "rack-7");
  REQUIRE(At(instance, system, "/Boot/BootOrder") == order);
  REQUIRE(instance.history().back().detail.at("target") == "Cd");
  REQUIRE(At(instance, system, "/Boot/BootSourceOverrideEnabled") == "Disabled");
  const Response gone = Delete(instance, settings);
  REQUIRE(gone.status == 405);
  REQUIRE(Get(instance, settings).status == 200);
}

TEST_CASE("A BIOS settings object needs neither attributes of its own nor the BIOS's type") {
  const std::string capture = "hpe-dl380a-gen12";
  const Bios shipped(capture);
  for (const std::string type : {"#Bios.v1_2_3.Bios", "#Settings.v1_3_5.Settings"}) {
    INFO(type);
    const Json bare = {{"@odata.id", shipped.settings},
                       {"@odata.type", type},
                       {"Id", "Settings"},
                       {"Name", "Settings"}};
    Instance instance(WorldWith(capture, {{shipped.settings, bare}}));
    const Bios::Change change = shipped.Free();
    const Json asked = {{"Attributes", {{change.name, change.after}}}};
    REQUIRE(Patch(instance, shipped.settings, asked).status == 200);
    REQUIRE(At(instance, shipped.settings, "/Attributes/" + change.name) == change.after);
    REQUIRE(Patch(instance, shipped.settings, {{"Attributes", {{"NoSuchThing", 1}}}}).status ==
            400);
    Boot(instance, shipped.system);
    REQUIRE(At(instance, shipped.active, "/Attributes/" + change.name) == change.after);
    REQUIRE(At(instance, shipped.settings, "/Attributes") == Json::object());
  }
}

}  // namespace shoal::mockserver
