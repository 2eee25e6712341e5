// SPDX-License-Identifier: Apache-2.0
#include "encoder/property_values.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "encoder/capture_bodies.h"

namespace shoal::encoder {
namespace {

using nlohmann::json;
using Pointer = json::json_pointer;

json System(const std::string& power, const std::string& serial) {
  return {{"@odata.id", "/redfish/v1/Systems/1"},
          {"Name", "System"},
          {"PowerState", power},
          {"SerialNumber", serial},
          {"Boot", {{"Enabled", power == "On"}, {"Link", "/redfish/v1/" + serial}}},
          {"Disks", {{{"Slot", 1}, {"Used", true}}, {{"Slot", 2}, {"Used", false}}}}};
}

struct Systems {
  Systems() {
    for (int i = 0; i < 100; ++i) {
      bodies.push_back(System(i % 4 == 0 ? "Off" : "On", "serial " + std::to_string(i)));
    }
    for (const json& body : bodies) pointers.push_back(&body);
  }
  std::vector<json> bodies;
  std::vector<const json*> pointers;
};

std::set<std::string> Names(const std::vector<PropertyPlace>& places) {
  std::set<std::string> names;
  for (const PropertyPlace& place : places) names.insert(place.pointer.to_string());
  return names;
}

TEST_CASE("properties have two to 64 values, and names with @, links and serial numbers are none") {
  const Systems systems;
  const PropertyValues values(systems.pointers);
  std::vector<std::string> names;
  for (const auto& [name, unused] : values.properties()) names.push_back(name);
  REQUIRE(names == std::vector<std::string>{"Enabled", "PowerState", "Slot", "Used"});
  const auto& power = values.properties().at("PowerState");
  REQUIRE(power.size() == 2);
  REQUIRE((power[0].value == "On" && power[0].count == 75));
  REQUIRE((power[1].value == "Off" && power[1].count == 25));
  REQUIRE(Names(values.PlacesIn(systems.bodies[0])) ==
          std::set<std::string>{"/Boot/Enabled", "/Disks/0/Slot", "/Disks/0/Used", "/Disks/1/Slot",
                                "/Disks/1/Used", "/PowerState"});
}

TEST_CASE("a change puts another known value into one property and leaves the rest") {
  const Systems systems;
  const PropertyValues values(systems.pointers);
  std::set<std::string> changed;
  for (std::uint64_t i = 0; i < 100; ++i) {
    runtime::Random random(i);
    json body = systems.bodies[i];
    const auto place = values.ChangeOne(body, random);
    REQUIRE(place.has_value());
    changed.insert(place->pointer.to_string());
    const json difference = json::diff(systems.bodies[i], body);
    REQUIRE(difference.size() == 1);
    REQUIRE(difference[0]["op"] == "replace");
    REQUIRE(difference[0]["path"] == place->pointer.to_string());
    REQUIRE(std::ranges::any_of(values.properties().at(place->name), [&](const auto& known) {
      return known.value == body[place->pointer];
    }));
  }
  REQUIRE(changed.size() == 6);
  runtime::Random random(1);
  json nothing = {{"Name", "System"}};
  REQUIRE_FALSE(values.ChangeOne(nothing, random).has_value());
}

TEST_CASE("what is left out of a view is never what was to be kept, nor a name with @") {
  const json body = System("On", "s");
  bool lacked_power = false;
  for (std::uint64_t i = 0; i < 50; ++i) {
    runtime::Random random(i);
    const json view = WithoutSome(body, Pointer("/Disks/1/Used"), 0.6, random);
    REQUIRE(view.at("@odata.id") == body.at("@odata.id"));
    REQUIRE(view.at("Disks").at(1).at("Used") == false);
    lacked_power = lacked_power || !view.contains("PowerState");
    // A view adds nothing.
    for (const auto& step : json::diff(body, view)) REQUIRE(step["op"] == "remove");
  }
  REQUIRE(lacked_power);
  runtime::Random random(1);
  REQUIRE(WithoutSome(body, Pointer(), 0, random) == body);
}

TEST_CASE("a long body loses members until its text is short enough") {
  json body = System("On", "s");
  for (int i = 0; i < 50; ++i) body["Member" + std::to_string(i)] = std::string(40, 'x');
  runtime::Random random(1);
  const json shortened = Shortened(body, 500, random);
  REQUIRE(BodyText(shortened).size() <= 500);
  REQUIRE(BodyText(shortened).size() > 300);
  REQUIRE(shortened.contains("@odata.id"));
  REQUIRE(Shortened(body, 1 << 20, random) == body);
  REQUIRE(Shortened(body, 1, random) == json{{"@odata.id", "/redfish/v1/Systems/1"}});
}

}  // namespace
}  // namespace shoal::encoder
