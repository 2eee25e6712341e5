// SPDX-License-Identifier: Apache-2.0
#include "redfish/schema.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "redfish/uri.h"
#include "tests/redfish/shipped.h"
#include "tests/redfish/temporary_folder.h"

namespace shoal::redfish {
namespace {

using Json = nlohmann::json;

constexpr const char* kSystem = "#ComputerSystem.v1_16_0.ComputerSystem";
constexpr const char* kProtocol = "#ManagerNetworkProtocol.v1_7_0.ManagerNetworkProtocol";

TEST_CASE("The table knows what the standard says is writable") {
  const Schema& schema = ShippedSchema();
  REQUIRE(schema.IsWritable(kSystem, "/AssetTag"));
  REQUIRE(schema.IsWritable(kSystem, "/IndicatorLED"));
  REQUIRE(schema.IsWritable(kSystem, "/Boot/BootSourceOverrideTarget"));
  REQUIRE(schema.IsWritable(kSystem, "/Boot/BootOrder"));
  REQUIRE(schema.IsWritable(kProtocol, "/IPMI/ProtocolEnabled"));
  REQUIRE(schema.IsWritable(kProtocol, "/NTP/NTPServers"));
  REQUIRE_FALSE(schema.IsWritable(kSystem, "/PowerState"));
  REQUIRE_FALSE(schema.IsWritable(kSystem, "/Name"));
  REQUIRE_FALSE(schema.IsWritable(kSystem, "/Boot"));
  REQUIRE_FALSE(schema.IsWritable(kSystem, "/NoSuchProperty"));
  REQUIRE_FALSE(schema.IsWritable("#Contoso.v1_0_0.Contoso", "/AssetTag"));
}

TEST_CASE("Kinds, values, bounds and formats come from the definitions") {
  const Schema& schema = ShippedSchema();
  const Property* target = schema.Find(kSystem, "/Boot/BootSourceOverrideTarget");
  REQUIRE(target->kind == PropertyKind::kEnumeration);
  REQUIRE(std::count(target->values.begin(), target->values.end(), "Pxe") == 1);
  REQUIRE(schema.Find(kSystem, "/LocationIndicatorActive")->kind == PropertyKind::kBoolean);
  const Property* port = schema.Find(kProtocol, "/SSH/Port");
  REQUIRE(port->kind == PropertyKind::kInteger);
  REQUIRE(port->minimum == 0.0);
  REQUIRE(schema.Find(kProtocol, "/NTP/NTPServers/3")->kind == PropertyKind::kString);
  REQUIRE(schema.Find(kSystem, "/LastResetTime")->format == StringFormat::kDateTime);
  REQUIRE(schema.Find(kSystem, "/UUID")->kind == PropertyKind::kString);
  REQUIRE(schema.Find(kSystem, "/UUID")->format == StringFormat::kGuid);
  REQUIRE(schema.Find(kSystem, "/Status/Health")->kind == PropertyKind::kEnumeration);
  REQUIRE(schema.Find(kSystem, "/Links/Chassis")->element->kind == PropertyKind::kLink);
}

TEST_CASE("A property counts from the version that brought it") {
  const Schema& schema = ShippedSchema();
  const std::string pointer = "/LocationIndicatorActive";
  REQUIRE(schema.Find("#ComputerSystem.v1_12_0.ComputerSystem", pointer) == nullptr);
  REQUIRE(schema.Find("#ComputerSystem.v1_13_0.ComputerSystem", pointer) != nullptr);
  REQUIRE(schema.Find("#ComputerSystem.v1_999_0.ComputerSystem", pointer) != nullptr);
  REQUIRE(schema.Find("ComputerSystem.ComputerSystem", pointer) != nullptr);
  REQUIRE(schema.Find("ManagerNetworkProtocol.v1_0_0.ManagerNetworkProtocol", "/NTP") == nullptr);
}

TEST_CASE("Methods follow the capabilities of the type") {
  const Schema& schema = ShippedSchema();
  REQUIRE(schema.Methods(kSystem).update);
  REQUIRE_FALSE(schema.Methods(kSystem).insert);
  REQUIRE(schema.Methods("#ManagerAccountCollection.ManagerAccountCollection").insert);
  REQUIRE_FALSE(schema.Methods("#ManagerAccountCollection.ManagerAccountCollection").update);
  REQUIRE(schema.Methods("#ManagerAccount.v1_4_0.ManagerAccount").remove);
  REQUIRE_FALSE(schema.Methods("#Contoso.v1_0_0.Contoso").update);
}

TEST_CASE("Actions have their parameters, and belong to their type alone") {
  const Schema& schema = ShippedSchema();
  const ActionDefinition* reset = schema.FindAction(kSystem, "ComputerSystem.Reset");
  REQUIRE(reset != nullptr);
  REQUIRE(reset->parameters.size() == 1);
  REQUIRE(reset->parameters[0].name == "ResetType");
  REQUIRE(reset->parameters[0].values.size() > 8);
  REQUIRE(schema.FindAction(kSystem, "Chassis.Reset") == nullptr);
  const ActionDefinition* insert =
      schema.FindAction("#VirtualMedia.v1_3_0.VirtualMedia", "VirtualMedia.InsertMedia");
  REQUIRE(insert != nullptr);
  REQUIRE(std::any_of(insert->parameters.begin(), insert->parameters.end(),
                      [](const Property& one) { return one.name == "Image" && one.required; }));
}

TEST_CASE("Members of a complex property are those of its type at the resource's version") {
  const Schema& schema = ShippedSchema();
  const Property* boot = schema.Find(kSystem, "/Boot");
  REQUIRE(boot->kind == PropertyKind::kComplex);
  const auto names = [&](const std::string& type) {
    std::vector<std::string> found;
    for (const Property* member : schema.Members(type, *boot)) found.push_back(member->name);
    return found;
  };
  const auto now = names(kSystem);
  const auto then = names("#ComputerSystem.v1_0_0.ComputerSystem");
  REQUIRE(std::count(now.begin(), now.end(), "BootOrder") == 1);
  REQUIRE(std::count(then.begin(), then.end(), "BootOrder") == 0);
  REQUIRE(schema.Properties(kSystem).size() > 40);
}

TEST_CASE("A value that does not fit its property is told why") {
  const Schema& schema = ShippedSchema();
  const auto misfit = [&](const char* type, const char* pointer, const Json& value) {
    return std::string(Misfit(*schema.Find(type, pointer), value));
  };
  REQUIRE(misfit(kSystem, "/AssetTag", "X").empty());
  REQUIRE(misfit(kSystem, "/AssetTag", 5) == "PropertyValueTypeError");
  REQUIRE(misfit(kSystem, "/IndicatorLED", "Lit").empty());
  REQUIRE(misfit(kSystem, "/IndicatorLED", "Purple") == "PropertyValueNotInList");
  REQUIRE(misfit(kSystem, "/LocationIndicatorActive", "true") == "PropertyValueTypeError");
  REQUIRE(misfit(kProtocol, "/SSH/Port", -1) == "PropertyValueOutOfRange");
  REQUIRE(misfit(kProtocol, "/SSH/Port", 22.5) == "PropertyValueTypeError");
  REQUIRE(misfit(kProtocol, "/NTP/NTPServers", Json::array({"a", nullptr})).empty());
  REQUIRE(misfit(kProtocol, "/NTP/NTPServers", Json::array({4})) == "PropertyValueTypeError");
  REQUIRE(misfit(kProtocol, "/NTP/NTPServers", "a") == "PropertyValueTypeError");
  REQUIRE(misfit(kSystem, "/UUID", "not a uuid") == "PropertyValueFormatError");
  REQUIRE(misfit(kSystem, "/LastResetTime", "yesterday") == "PropertyValueFormatError");
}

TEST_CASE("Every type of the shipped captures' systems, chassis and managers is known") {
  for (const char* name : kShipped) {
    for (const auto& [uri, body] : Shipped(name).resources()) {
      const auto tokens = PointerTokens(uri);
      if (tokens.size() != 4) continue;
      if (tokens[2] != "Systems" && tokens[2] != "Chassis" && tokens[2] != "Managers") continue;
      REQUIRE(ShippedSchema().Knows(body.at("@odata.type").get<std::string>()));
    }
  }
}

TEST_CASE("A table that is missing, no table, or cut is refused and named") {
  const TemporaryFolder folder;
  REQUIRE(Schema::Load("/nowhere.zst").status().code() == absl::StatusCode::kNotFound);
  const std::string path = folder.Write("text.zst", "no table");
  const auto text = Schema::Load(path);
  REQUIRE(text.status().code() == absl::StatusCode::kDataLoss);
  REQUIRE(std::string(text.status().message()).find(path) != std::string::npos);
}

}  // namespace
}  // namespace shoal::redfish
