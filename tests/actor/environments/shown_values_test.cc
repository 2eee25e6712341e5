// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/shown_values.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

namespace shoal::actor {
namespace {

using Json = nlohmann::json;

const redfish::Schema& StandardSchema() {
  static const auto schema = *redfish::Schema::Load("data/schema/redfish.schema.zst");
  return *schema;
}

// Returns the values of a body by their places in words.
std::map<std::string, Json> ShownBy(const Json& body) {
  std::map<std::string, Json> values;
  for (const ShownValue& value : ValuesShownBy(body, StandardSchema()).values) {
    values[value.place_in_words] = value.value;
  }
  return values;
}

Json ChassisWith(const Json& more) {
  Json body = {{"@odata.id", "/redfish/v1/Chassis/1"},
               {"@odata.type", "#Chassis.v1_20_0.Chassis"},
               {"@odata.etag", "\"1\""}};
  body.update(more);
  return body;
}

redfish::Slot SlotOf(redfish::PropertyKind kind) {
  redfish::Slot slot;
  slot.kind = kind;
  return slot;
}

TEST_CASE(
    "A body shows its texts and numbers, and no annotation, link, action, list choice or URI") {
  const Json body = ChassisWith({{"SerialNumber", "X-1"},
                                 {"HeightMm", 44.5},
                                 {"ChassisType", "RackMount"},
                                 {"PartNumber", nullptr},
                                 {"SKU", ""},
                                 {"Location", {{"PostalAddress", {{"City", "Bern"}}}}},
                                 {"Links", {{"Note", "linked"}}},
                                 {"Actions", {{"#Chassis.Reset", {{"target", "x"}}}}},
                                 {"Oem", {{"Where", "/redfish/v1/Chassis/1"}, {"Code", "C9"}}}});
  REQUIRE(ShownBy(body) == std::map<std::string, Json>{{"serial number", "X-1"},
                                                       {"height mm", 44.5},
                                                       {"location postal address city", "Bern"},
                                                       {"oem code", "C9"}});
  REQUIRE(ValuesShownBy(body, StandardSchema()).type_in_words == "chassis");
}

TEST_CASE("Secrets are no values, wherever they stand") {
  REQUIRE(ShownBy(ChassisWith({{"Password", "a1"},
                               {"Oem", {{"SNMP", {{"CommunityName", "b2"}}}, {"Token", "c3"}}},
                               {"LicenseKey", {{"Value", "d4"}}}}))
              .empty());
  for (const char* type : {"#ManagerAccount.v1_7_0.ManagerAccount", "#Session.v1_3_0.Session"}) {
    REQUIRE(ShownBy({{"@odata.type", type}, {"UserName", "eve"}, {"Name", "User"}}).empty());
  }
}

TEST_CASE("Of a body with many values those near the top are kept") {
  Json deep = Json::object();
  for (int i = 0; i < 100; ++i) deep["Deep" + std::to_string(i)] = "v" + std::to_string(i);
  const auto shown = ShownBy(ChassisWith({{"Assembly", deep}, {"SerialNumber", "X-1"}}));
  REQUIRE(shown.size() == ShownValuesCache::kMaximumValues);
  REQUIRE(shown.contains("serial number"));
  const std::string longest(ShownValuesCache::kLongestValue, 'x');
  REQUIRE(ShownBy(ChassisWith({{"SKU", longest}})).size() == 1);
  REQUIRE(ShownBy(ChassisWith({{"SKU", longest + "x"}})).empty());
}

TEST_CASE("A slot takes a value of its type, its range and its format") {
  ShownValue text{.value = "X-1", .name = {}, .name_in_words = {}, .place_in_words = {}};
  ShownValue number{.value = 7, .name = {}, .name_in_words = {}, .place_in_words = {}};
  REQUIRE(Fits(SlotOf(redfish::PropertyKind::kString), text));
  REQUIRE_FALSE(Fits(SlotOf(redfish::PropertyKind::kString), number));
  redfish::Slot guid = SlotOf(redfish::PropertyKind::kString);
  guid.format = redfish::StringFormat::kGuid;
  REQUIRE_FALSE(Fits(guid, text));
  text.format = redfish::StringFormat::kGuid;
  REQUIRE(Fits(guid, text));
  redfish::Slot range = SlotOf(redfish::PropertyKind::kInteger);
  range.minimum = 1;
  range.maximum = 7;
  REQUIRE(Fits(range, number));
  number.value = 8;
  REQUIRE_FALSE(Fits(range, number));
  number.value = 0;
  REQUIRE_FALSE(Fits(range, number));
}

}  // namespace
}  // namespace shoal::actor
