// SPDX-License-Identifier: Apache-2.0
#include "redfish/schema/schema.h"

#include <zstd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "redfish/capture/uri.h"
#include "redfish/schema/schema_format.h"
#include "tests/doubles/temporary_folder.h"
#include "tests/redfish/capture/shipped.h"

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

TEST_CASE("What a POST that makes a resource must have is known") {
  const Schema& schema = ShippedSchema();
  const auto names = [&](const std::string& type) {
    std::vector<std::string> found;
    for (const Property* property : schema.Properties(type)) {
      if (property->required_on_create) found.push_back(property->name);
    }
    std::sort(found.begin(), found.end());
    return found;
  };
  REQUIRE(names("#ManagerAccount.v1_4_0.ManagerAccount") ==
          std::vector<std::string>{"Password", "RoleId", "UserName"});
  REQUIRE(names("#Session.v1_3_0.Session") == std::vector<std::string>{"Password", "UserName"});
  REQUIRE(names(kSystem).empty());
}

TEST_CASE("Secrets are write-only, whichever way the standard says so") {
  const Schema& schema = ShippedSchema();
  const char* account = "#ManagerAccount.v1_4_0.ManagerAccount";
  REQUIRE(schema.Find(account, "/Password")->write_only);
  REQUIRE(schema.Find(account, "/Password")->writable);
  REQUIRE_FALSE(schema.Find(account, "/UserName")->write_only);
  REQUIRE(schema.Find("#Session.v1_3_0.Session", "/Password")->write_only);
  REQUIRE_FALSE(schema.Find("#Session.v1_3_0.Session", "/Password")->writable);
  REQUIRE(schema.Find("#VirtualMedia.v1_3_0.VirtualMedia", "/Password")->write_only);
  const char* event = "#EventDestination.v1_15_0.EventDestination";
  REQUIRE(schema.Find(event, "/SNMP/EncryptionKey")->write_only);
  REQUIRE_FALSE(schema.Find(event, "/SNMP/TrapCommunity")->write_only);
}

TEST_CASE("What every body must have is required, and the rest is not") {
  const Schema& schema = ShippedSchema();
  REQUIRE(schema.Find(kSystem, "/Id")->required);
  REQUIRE(schema.Find(kSystem, "/Name")->required);
  REQUIRE_FALSE(schema.Find(kSystem, "/Description")->required);
  REQUIRE(schema.Find("#ChassisCollection.ChassisCollection", "/Members")->required);
}

TEST_CASE("An excerpt shows what its key asks for") {
  const Schema& schema = ShippedSchema();
  const auto names = [&](const char* type, const char* key) {
    std::vector<std::string> found;
    for (const Property* property : schema.ExcerptProperties(type, key)) {
      found.push_back(property->name);
    }
    std::sort(found.begin(), found.end());
    return found;
  };
  const char* sensor = "#Sensor.v1_1_0.Sensor";
  REQUIRE(names(sensor, "Voltage") ==
          std::vector<std::string>{"CrestFactor", "DataSourceUri", "Reading", "THDPercent"});
  REQUIRE(names(sensor, "Power") == std::vector<std::string>{"ApparentVA", "DataSourceUri",
                                                             "PowerFactor", "ReactiveVAR",
                                                             "Reading"});
  REQUIRE(names(sensor, "NoSuchKey") == std::vector<std::string>{"DataSourceUri", "Reading"});
  REQUIRE(names(sensor, "").size() == 11);
  REQUIRE(names("#Sensor.v1_2_0.Sensor", "Fan") ==
          std::vector<std::string>{"DataSourceUri", "Reading", "SpeedRPM"});
  REQUIRE(schema.Find(sensor, "/DataSourceUri")->copy_only);
  REQUIRE_FALSE(schema.Find(sensor, "/Reading")->copy_only);
  REQUIRE(names(kSystem, "").empty());
}

TEST_CASE("A property that is an excerpt names what it is an excerpt of") {
  const Schema& schema = ShippedSchema();
  const char* metrics = "#EnvironmentMetrics.v1_3_0.EnvironmentMetrics";
  const Property* power = schema.Find(metrics, "/PowerWatts");
  REQUIRE(power->kind == PropertyKind::kLink);
  REQUIRE(power->target == "Sensor.Sensor");
  REQUIRE(power->excerpt_copy == "Power");
  REQUIRE(schema.Find(metrics, "/HumidityPercent")->excerpt_copy == "");
  REQUIRE(schema.Find(metrics, "/FanSpeedsPercent")->element->target == "Sensor.Sensor");
  REQUIRE(schema.Find(metrics, "/FanSpeedsPercent")->excerpt_copy == "FanArray");
  const Property* chassis = schema.Find(kSystem, "/Links/Chassis");
  REQUIRE(chassis->element->target == "Chassis.Chassis");
  REQUIRE_FALSE(chassis->excerpt_copy.has_value());
}

TEST_CASE("A collection's members are of the type that it names, in every shipped capture") {
  const Schema& schema = ShippedSchema();
  REQUIRE(schema.MemberType("#LogEntryCollection.LogEntryCollection") == "LogEntry.LogEntry");
  REQUIRE(schema.MemberType(kSystem).empty());
  REQUIRE(schema.MemberType("#Contoso.v1_0_0.Contoso").empty());
  for (const char* name : kShipped) {
    std::size_t members = 0;
    for (const auto& [uri, body] : Shipped(name).resources()) {
      const std::string collection = TextAt(body, "@odata.type");
      const std::string_view expected = schema.MemberType(collection);
      const auto list = body.find("Members");
      if (expected.empty() || list == body.end()) continue;
      for (const Json& link : *list) {
        const Json* const member = Shipped(name).Find(LinkTarget(link));
        const std::string type = member == nullptr ? "" : TextAt(*member, "@odata.type");
        if (!schema.Knows(type)) continue;
        INFO(name << " " << uri << " " << type);
        REQUIRE(format::ParseTypeName(type).key == expected);
        ++members;
      }
    }
    REQUIRE(members > 50);
  }
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
  const doubles::TemporaryFolder folder;
  REQUIRE(Schema::Load("/nowhere.zst").status().code() == absl::StatusCode::kNotFound);
  const std::string path = folder.Write("text.zst", "no table");
  const auto text = Schema::Load(path);
  REQUIRE(text.status().code() == absl::StatusCode::kDataLoss);
  REQUIRE(std::string(text.status().message()).find(path) != std::string::npos);
  const std::string old = R"({"format": 1, "types": {}})";
  std::string packed(ZSTD_compressBound(old.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), old.data(), old.size(), 1));
  const auto other = Schema::Load(folder.Write("old.zst", packed));
  REQUIRE(other.status().code() == absl::StatusCode::kDataLoss);
  REQUIRE(std::string(other.status().message()).find("another format than 2") != std::string::npos);
}

}  // namespace
}  // namespace shoal::redfish
