// SPDX-License-Identifier: Apache-2.0
#include "redfish/schema/privilege_registry.h"

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "tests/doubles/temporary_folder.h"
#include "tests/redfish/capture/shipped.h"

namespace shoal::redfish {
namespace {

using Json = nlohmann::json;
using Texts = std::vector<std::string>;

const PrivilegeRegistry& Privileges() {
  static const auto kRegistry = PrivilegeRegistry::Load("data/registries/registries.tar.xz");
  REQUIRE(kRegistry.ok());
  return **kRegistry;
}

// The roles that every service has (DSP0266, "Roles").
const Texts kAdministrator = {"Login", "ConfigureManager", "ConfigureUsers", "ConfigureSelf",
                              "ConfigureComponents"};
const Texts kOperatorPrivileges = {"Login", "ConfigureComponents", "ConfigureSelf"};
const Texts kReadOnly = {"Login", "ConfigureSelf"};
const Texts kLogin = {"Login"};
const Texts kNobody = {};

bool May(const Texts& granted, const char* method, const char* entity, const Texts& properties = {},
         const Texts& ancestors = {}) {
  return Privileges().Allows(
      {.method = method, .entity = entity, .ancestors = ancestors, .properties = properties},
      granted);
}

Json Sample() {
  return Json::parse(R"({"Mappings": [{
    "Entity": "Lamp",
    "OperationMap": {
      "GET": [{"Privilege": ["Login"]}],
      "PATCH": [{"Privilege": ["ConfigureManager", "OemLight"]}, {"Privilege": ["OemMaster"]}]},
    "ResourceURIOverrides": [{
      "Targets": ["/redfish/v1/Lamps/1"],
      "OperationMap": {"GET": [{"Privilege": ["OemMaster"]}]}}],
    "SubordinateOverrides": [{
      "Targets": ["Chassis"],
      "OperationMap": {"GET": [{"Privilege": ["ConfigureComponents"]}]}}]
  }]})");
}

TEST_CASE("The shipped registry lets each role do what the standard lets it") {
  REQUIRE(Privileges().size() > 250);
  REQUIRE(May(kLogin, "GET", "ComputerSystem"));
  REQUIRE_FALSE(May(kNobody, "GET", "ComputerSystem"));
  REQUIRE(May(kOperatorPrivileges, "PATCH", "ComputerSystem"));
  REQUIRE(May(kOperatorPrivileges, "POST", "ComputerSystem"));
  REQUIRE_FALSE(May(kReadOnly, "PATCH", "ComputerSystem"));
  REQUIRE(May(kLogin, "GET", "SessionService"));
  REQUIRE_FALSE(May(kOperatorPrivileges, "PATCH", "SessionService"));
  REQUIRE(May({"ConfigureManager"}, "PATCH", "SessionService"));
  REQUIRE_FALSE(May(kOperatorPrivileges, "POST", "ManagerAccountCollection"));
  REQUIRE(May({"ConfigureUsers"}, "POST", "ManagerAccountCollection"));
  REQUIRE(May(kAdministrator, "DELETE", "ManagerAccount"));
  REQUIRE(May({"ConfigureSelf"}, "DELETE", "Session"));
  REQUIRE_FALSE(May(kLogin, "DELETE", "Session"));
}

TEST_CASE("The service root is open to those who did not log in, and to those who did") {
  REQUIRE(May(kNobody, "GET", "ServiceRoot"));
  REQUIRE(May(kAdministrator, "GET", "ServiceRoot"));
  REQUIRE_FALSE(May(kNobody, "PATCH", "ServiceRoot"));
}

TEST_CASE("A user changes its own password, and nothing else of its account") {
  REQUIRE(May({"ConfigureSelf"}, "PATCH", "ManagerAccount", {"Password"}));
  REQUIRE(May({"ConfigureSelf"}, "PATCH", "ManagerAccount", {"@odata.etag", "Password"}));
  REQUIRE_FALSE(May({"ConfigureSelf"}, "PATCH", "ManagerAccount", {"Password", "RoleId"}));
  REQUIRE_FALSE(May({"ConfigureSelf"}, "PATCH", "ManagerAccount", {"RoleId"}));
  REQUIRE_FALSE(May({"ConfigureSelf"}, "PATCH", "ManagerAccount"));
  REQUIRE_FALSE(May(kLogin, "PATCH", "ManagerAccount", {"Password"}));
  REQUIRE(May({"ConfigureUsers"}, "PATCH", "ManagerAccount", {"Password", "RoleId"}));
  REQUIRE_FALSE(May({"ConfigureSelf"}, "DELETE", "ManagerAccount", {"Password"}));
}

TEST_CASE("What a resource is subordinate to changes what it needs") {
  const Texts manager = {"ServiceRoot", "ManagerCollection", "Manager"};
  const Texts managers_port = {"ServiceRoot", "ManagerCollection", "Manager",
                               "EthernetInterfaceCollection"};
  const Texts systems_port = {"ServiceRoot", "ComputerSystemCollection", "ComputerSystem",
                              "EthernetInterfaceCollection"};
  REQUIRE(May(kOperatorPrivileges, "PATCH", "EthernetInterface", {}, systems_port));
  REQUIRE_FALSE(May(kOperatorPrivileges, "PATCH", "EthernetInterface", {}, managers_port));
  REQUIRE(May({"ConfigureManager"}, "PATCH", "EthernetInterface", {}, managers_port));
  REQUIRE_FALSE(May({"ConfigureManager"}, "PATCH", "EthernetInterface", {}, systems_port));
  REQUIRE(May(kOperatorPrivileges, "PATCH", "EthernetInterface", {}, manager));
  REQUIRE(May(kLogin, "GET", "EthernetInterface", {}, managers_port));
}

TEST_CASE("Ancestors between the named ones do not matter, their order does") {
  const Texts deep = {"ComputerSystem", "SecureBootDatabase", "CertificateCollection"};
  REQUIRE(May({"ConfigureComponents"}, "GET", "Certificate", {}, deep));
  REQUIRE_FALSE(May({"ConfigureComponents"}, "GET", "Certificate", {}, {"Manager"}));
  const Texts reversed = {"EthernetInterfaceCollection", "Manager"};
  REQUIRE(May(kOperatorPrivileges, "PATCH", "EthernetInterface", {}, reversed));
}

TEST_CASE("Privileges of one alternative are needed together, one alternative is enough") {
  const auto registry = PrivilegeRegistry::Parse("sample", Sample()).value();
  const auto may = [&](const Texts& granted) {
    return registry->Allows({.method = "PATCH", .entity = "Lamp"}, granted);
  };
  REQUIRE(may({"ConfigureManager", "OemLight"}));
  REQUIRE(may({"OemMaster"}));
  REQUIRE_FALSE(may({"ConfigureManager"}));
  REQUIRE_FALSE(may({"OemLight", "Login"}));
}

TEST_CASE("A mapping of the URI goes before that of the ancestors, and neither hides a method") {
  const auto registry = PrivilegeRegistry::Parse("sample", Sample()).value();
  const Texts chassis = {"Chassis"};
  const auto may = [&](const char* method, const char* uri, const Texts& granted) {
    return registry->Allows({.method = method, .entity = "Lamp", .ancestors = chassis, .uri = uri},
                            granted);
  };
  REQUIRE(may("GET", "/redfish/v1/Lamps/1", {"OemMaster"}));
  REQUIRE_FALSE(may("GET", "/redfish/v1/Lamps/1", {"ConfigureComponents"}));
  REQUIRE(may("GET", "/redfish/v1/Lamps/2", {"ConfigureComponents"}));
  REQUIRE_FALSE(may("GET", "/redfish/v1/Lamps/2", {"Login"}));
  REQUIRE(may("PATCH", "/redfish/v1/Lamps/1", {"OemMaster"}));
}

TEST_CASE("An entity or a method that the registry lacks is not open") {
  REQUIRE(May(kLogin, "GET", "ContosoThing"));
  REQUIRE_FALSE(May(kNobody, "GET", "ContosoThing"));
  REQUIRE_FALSE(May(kOperatorPrivileges, "PATCH", "ContosoThing"));
  REQUIRE(May(kAdministrator, "PATCH", "ContosoThing"));
  REQUIRE_FALSE(May(kAdministrator, "TRACE", "ContosoThing"));
  REQUIRE_FALSE(May(kAdministrator, "TRACE", "ComputerSystem"));
  REQUIRE_FALSE(May(kAdministrator, "", ""));
}

TEST_CASE("Ancestors are read off the path of a captured resource") {
  const Capture& capture = Shipped("openbmc-stock");
  const FindResource find = [&](const std::string& uri) { return capture.Find(uri); };
  REQUIRE(AncestorEntities("/redfish/v1/Managers/bmc/EthernetInterfaces/eth0", find) ==
          Texts{"ServiceRoot", "ManagerCollection", "Manager", "EthernetInterfaceCollection"});
  REQUIRE(AncestorEntities("/redfish/v1", find).empty());
  REQUIRE(EntityOf("#ManagerAccount.v1_12_0.ManagerAccount") == "ManagerAccount");
  REQUIRE(EntityOf("#RoleCollection.RoleCollection") == "RoleCollection");
  REQUIRE(EntityOf("nonsense").empty());
}

TEST_CASE("What is no privilege registry, or would open everything, is refused and named") {
  const doubles::TemporaryFolder folder;
  REQUIRE(PrivilegeRegistry::Load(folder.path()).status().code() == absl::StatusCode::kNotFound);
  folder.Write("Odd_PrivilegeRegistry.json", "{\"Mappings\": 4");
  const absl::Status cut = PrivilegeRegistry::Load(folder.path()).status();
  REQUIRE(cut.code() == absl::StatusCode::kDataLoss);
  REQUIRE(std::string(cut.message()).find("Odd_PrivilegeRegistry.json") != std::string::npos);
  for (const char* pointer :
       {"/Mappings/0/OperationMap/GET", "/Mappings/0/OperationMap/GET/0/Privilege",
        "/Mappings/0/SubordinateOverrides/0/OperationMap/GET"}) {
    Json open = Sample();
    open[Json::json_pointer(pointer)] = Json::array();
    REQUIRE(PrivilegeRegistry::Parse("open", open).status().code() == absl::StatusCode::kDataLoss);
  }
  Json odd = Sample();
  odd["Mappings"][0]["OperationMap"]["GET"] = 7;
  REQUIRE(PrivilegeRegistry::Parse("odd", odd).status().code() == absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace shoal::redfish
