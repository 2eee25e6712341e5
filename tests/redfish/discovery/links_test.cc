// SPDX-License-Identifier: Apache-2.0
#include "redfish/discovery/links.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace shoal::discovery {
namespace {

using Json = nlohmann::json;

std::vector<std::string> TargetsIn(const std::string& text) {
  std::vector<std::string> targets;
  for (const Link& link : LinksIn(Json::parse(text), "bmc.lab:443")) targets.push_back(link.target);
  return targets;
}

using Targets = std::vector<std::string>;

TEST_CASE("Links of every kind are found at any depth, each once and canonical") {
  REQUIRE(TargetsIn(R"({
    "@odata.id": "/redfish/v1/Systems/1/",
    "Actions": {"#A": {"@Redfish.ActionInfo": "/redfish/v1/Systems/1//ResetInfo"}},
    "@Redfish.Settings": {"SettingsObject": {"@odata.id": "/redfish/v1/Systems/1/Settings"}},
    "Location": [{"Uri": "/redfish/v1/Registries/Base.json"}],
    "Links": [[{"@odata.id": "/redfish/v1/Systems/1#/Part/0"}]]})") ==
          Targets{"/redfish/v1/Systems/1/Settings", "/redfish/v1/Systems/1",
                  "/redfish/v1/Systems/1/ResetInfo", "/redfish/v1/Registries/Base.json"});
}

TEST_CASE("Only a link to a next page keeps its query") {
  REQUIRE(TargetsIn(R"({"A": {"@odata.id": "/redfish/v1/X?$expand=*"},
                        "Members@odata.nextLink": "/redfish/v1/X?$skip=50#here"})") ==
          Targets{"/redfish/v1/X", "/redfish/v1/X?$skip=50"});
}

TEST_CASE("What leads out of the service is no link") {
  REQUIRE(TargetsIn(R"([{"Uri": "http://redfish.dmtf.org/redfish/v1/schemas/X.json"},
                        {"Uri": "//elsewhere/redfish/v1/X"}, {"@odata.id": "#/Part"},
                        {"@odata.id": "Relative"}, {"@odata.id": 5}, {"@odata.id": "/redfish/v11"},
                        {"target": "/redfish/v1/Systems/1/Actions/Reset"}])")
              .empty());
  REQUIRE(TargetsIn(R"([{"Uri": "https://bmc.lab/redfish/v1/A"},
                        {"Uri": "https://bmc.lab:443/redfish/v1/B"}])") ==
          Targets{"/redfish/v1/A", "/redfish/v1/B"});
}

}  // namespace
}  // namespace shoal::discovery
