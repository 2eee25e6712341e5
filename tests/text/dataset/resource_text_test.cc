// SPDX-License-Identifier: Apache-2.0
#include "text/dataset/resource_text.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace shoal::dataset {
namespace {

using Json = nlohmann::json;
using Methods = std::vector<std::string>;

Methods MethodsOfType(const char* type, const redfish::ManifestEntry* recorded) {
  static const auto schema = redfish::Schema::Load("data/schema/redfish.schema.zst").value();
  return MethodsOf(recorded, Json{{"@odata.type", type}}, *schema);
}

}  // namespace

TEST_CASE("a request line says the URI and its methods") {
  REQUIRE(RequestLine("/redfish/v1/Systems/1", {"GET", "PATCH"}) ==
          "GET /redfish/v1/Systems/1 [GET, PATCH]\n");
  REQUIRE(RequestLine("/redfish/v1", {}) == "GET /redfish/v1 []\n");
}

TEST_CASE("methods are what the service said, else what the standard allows") {
  const char* const system = "#ComputerSystem.v1_13_0.ComputerSystem";
  const redfish::ManifestEntry said{.methods = {"DELETE", "HEAD"}};
  const redfish::ManifestEntry silent{};
  REQUIRE(MethodsOfType(system, &said) == Methods{"DELETE", "GET"});
  const Methods allowed = MethodsOfType(system, &silent);
  REQUIRE(allowed == MethodsOfType(system, nullptr));
  REQUIRE(std::find(allowed.begin(), allowed.end(), "PATCH") != allowed.end());
  REQUIRE(MethodsOfType("#AcmeThing.v1_0_0.AcmeThing", nullptr) == Methods{"GET"});
}

TEST_CASE("schemas and registries are told from resources by URI, by type and by content") {
  REQUIRE(IsDefinition("/redfish/v1/JsonSchemas", Json::object()));
  REQUIRE(IsDefinition("/redfish/v1/Registries/Base", Json::object()));
  REQUIRE(IsDefinition("/redfish/v1/x", Json{{"@odata.type", "#AttributeRegistry.v1_3_0.X"}}));
  REQUIRE(IsDefinition("/redfish/v1/x", Json{{"$schema", "http://json-schema.org"}}));
  REQUIRE_FALSE(IsDefinition("/redfish/v1/RegistriesOfMine", Json::object()));
  REQUIRE_FALSE(
      IsDefinition("/redfish/v1/Chassis/1", Json{{"@odata.type", "#Chassis.v1_0_0.Chassis"}}));
}

}  // namespace shoal::dataset
