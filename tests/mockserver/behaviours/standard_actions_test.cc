// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <string>

#include "mockserver/service/editor.h"
#include "tests/mockserver/service/worlds.h"

namespace shoal::mockserver {
namespace {

int StatusOfAction(Instance& instance, const std::string& uri, const std::string& action,
                   const Json& parameters = Json::object()) {
  const Json target = At(instance, uri, "/Actions/#" + action + "/target");
  REQUIRE(target.is_string());
  return Post(instance, target.get<std::string>(), parameters).status;
}

// Returns a world whose resource at `uri` has these members and offers `action`.
std::shared_ptr<const World> Offering(const std::string& capture, const std::string& uri,
                                      const std::string& action, const Json& members) {
  const Json* const present = WorldOf(capture)->capture().Find(uri);
  Json resource = present == nullptr ? Json::object() : *present;
  resource.update(members);
  resource["@odata.id"] = uri;
  resource["Actions"]["#" + action] = {{"target", uri + "/Actions/" + action}};
  return WorldWith(capture, {{uri, resource}});
}

}  // namespace

TEST_CASE("Keys of Secure Boot are deleted and come back, and the mode follows") {
  Instance instance(WorldOf("dell-r750"));
  const std::string secure_boot = LandmarksOf(instance.world()).system + "/SecureBoot";
  const std::string database = secure_boot + "/SecureBootDatabases/db";
  const std::string certificates = redfish::LinkTarget(At(instance, database, "/Certificates"));
  const Json before = At(instance, certificates, "/Members");
  REQUIRE(StatusOfAction(instance, secure_boot, "SecureBoot.ResetKeys", Json::object()) == 400);
  REQUIRE(StatusOfAction(instance, secure_boot, "SecureBoot.ResetKeys",
                         {{"ResetKeysType", "DeleteAllKeys"}}) == 200);
  REQUIRE(At(instance, secure_boot, "/SecureBootMode") == "SetupMode");
  REQUIRE(At(instance, certificates, "/Members") == Json::array());
  REQUIRE(StatusOfAction(instance, database, "SecureBootDatabase.ResetKeys",
                         {{"ResetKeysType", "ResetAllKeysToDefault"}}) == 200);
  REQUIRE(At(instance, certificates, "/Members") == before);
  for (const std::string& key : redfish::LinkTargets(&before)) {
    REQUIRE(Get(instance, key).status == Get(instance, database).status);
  }
  REQUIRE(At(instance, secure_boot, "/SecureBootMode") == "SetupMode");
  REQUIRE(StatusOfAction(instance, secure_boot, "SecureBoot.ResetKeys",
                         {{"ResetKeysType", "ResetAllKeysToDefault"}}) == 200);
  REQUIRE(At(instance, secure_boot, "/SecureBootMode") == "UserMode");
}

TEST_CASE("A manager's defaults bring back what was captured, and accounts unless they are kept") {
  for (const bool keeps_users : {true, false}) {
    Instance instance(WorldOf("dell-r750"), {.manager_restart = std::chrono::seconds(10)});
    const std::string manager = "/redfish/v1/Managers/iDRAC.Embedded.1";
    const std::string protocols = manager + "/NetworkProtocol";
    const std::string account = "/redfish/v1/AccountService/Accounts/5";
    REQUIRE(Patch(instance, protocols, {{"SSH", {{"Port", 2222}}}}).status == 200);
    REQUIRE(Patch(instance, account,
                  {{"UserName", "ann"}, {"Password", "secret-of-ann"}, {"RoleId", "Operator"}})
                .status == 200);
    const std::string type = keeps_users ? "PreserveNetworkAndUsers" : "ResetAll";
    REQUIRE(StatusOfAction(instance, manager, "Manager.ResetToDefaults", {{"ResetType", type}}) ==
            200);
    REQUIRE(Get(instance, manager).status == 503);
    instance.Advance(std::chrono::seconds(10));
    REQUIRE(Get(instance, manager).status == 200);
    REQUIRE(At(instance, protocols, "/SSH/Port") == (keeps_users ? 2222 : 22));
    REQUIRE(At(instance, account, "/UserName") == (keeps_users ? "ann" : ""));
  }
}

TEST_CASE("A network adapter's settings are again what was captured") {
  Instance instance(WorldOf("hpe-dl380a-gen12"));
  const std::string adapter = "/redfish/v1/Chassis/1/NetworkAdapters/DE058000";
  const Json captured = *instance.Find(adapter);
  {
    Editor editor(instance);
    REQUIRE(editor.Set(*editor.Find(adapter), "/Name", "other"));
  }
  REQUIRE(StatusOfAction(instance, adapter, "NetworkAdapter.ResetSettingsToDefault") == 200);
  REQUIRE(At(instance, adapter, "/Name") == captured.at("Name"));
}

TEST_CASE("A sensor's statistics start anew at its present reading") {
  const std::string uri = "/redfish/v1/Chassis/1U/Sensors/PS1Energy";
  Instance instance(Offering("dmtf-rackmount1", uri, "Sensor.ResetMetrics",
                             {{"PeakReading", 9'000}, {"LowestReading", 1}}));
  instance.Advance(std::chrono::hours(1));
  REQUIRE(StatusOfAction(instance, uri, "Sensor.ResetMetrics") == 200);
  REQUIRE(At(instance, uri, "/PeakReading") == At(instance, uri, "/Reading"));
  REQUIRE(At(instance, uri, "/LowestReading") == At(instance, uri, "/Reading"));
  REQUIRE(At(instance, uri, "/SensorResetTime") == "1970-01-01T01:00:00Z");
}

TEST_CASE("The default boot order is the one that was captured") {
  const std::string system = LandmarksOf(*WorldOf("hpe-dl380a-gen12")).system;
  Instance instance(
      Offering("hpe-dl380a-gen12", system, "ComputerSystem.SetDefaultBootOrder", Json::object()));
  const Json before = At(instance, system, "/Boot/BootOrder");
  Json order = before;
  std::reverse(order.begin(), order.end());
  REQUIRE(Patch(instance, system, {{"Boot", {{"BootOrder", order}}}}).status == 200);
  REQUIRE(StatusOfAction(instance, system, "ComputerSystem.SetDefaultBootOrder") == 200);
  REQUIRE(At(instance, system, "/Boot/BootOrder") == before);
}

TEST_CASE("A test metric report is there until reports are cleared") {
  Instance instance(WorldOf("dell-r750"));
  const std::string service = "/redfish/v1/TelemetryService";
  const std::string reports = redfish::LinkTarget(At(instance, service, "/MetricReports"));
  const Json values = Json::array({{{"MetricId", "Heat"}, {"MetricValue", "42"}}});
  const Json body = {{"MetricReportName", "Trial"}, {"GeneratedMetricReportValues", values}};
  REQUIRE(StatusOfAction(instance, service, "TelemetryService.SubmitTestMetricReport", body) ==
          200);
  REQUIRE(StatusOfAction(instance, service, "TelemetryService.SubmitTestMetricReport", body) ==
          200);
  REQUIRE(At(instance, reports + "/Trial", "/MetricValues") == values);
  Json escaping = body;
  escaping["MetricReportName"] = "../Trial";
  REQUIRE(StatusOfAction(instance, service, "TelemetryService.SubmitTestMetricReport", escaping) ==
          400);
  REQUIRE(StatusOfAction(instance, service, "TelemetryService.ClearMetricReports") == 200);
  REQUIRE(Get(instance, reports + "/Trial").status == 404);
  REQUIRE(At(instance, reports, "/Members") == Json::array());
}

TEST_CASE("Triggers and definitions of reports are again what was captured") {
  const std::string service = "/redfish/v1/TelemetryService";
  for (const std::string kind : {"Triggers", "MetricReportDefinitions"}) {
    INFO(kind);
    const std::string action = "TelemetryService.Reset" + kind + "ToDefaults";
    Instance instance(Offering("dmtf-telemetry", service, action, Json::object()));
    const std::string collection = redfish::LinkTarget(At(instance, service, "/" + kind));
    const std::string member = redfish::LinkTarget(At(instance, collection, "/Members/0"));
    const Json before = At(instance, collection, "/Members");
    {
      Editor editor(instance);
      editor.RemoveMember(*editor.Find(member));
    }
    REQUIRE(Get(instance, member).status == 404);
    REQUIRE(StatusOfAction(instance, service, action) == 200);
    REQUIRE(Get(instance, member).status == 200);
    REQUIRE(At(instance, collection, "/Members") == before);
  }
}

TEST_CASE("An erased drive is part of no volume, and a reset subsystem keeps volumes when asked") {
  const std::string storage = "/redfish/v1/Systems/1/Storage/DE010000";
  Instance instance(WorldOf("hpe-dl380a-gen12"));
  const Json volumes = At(instance, storage, "/Volumes");
  const std::string collection = redfish::LinkTarget(volumes);
  const Json before = At(instance, collection, "/Members");
  REQUIRE_FALSE(before.empty());
  REQUIRE(StatusOfAction(instance, storage, "Storage.ResetToDefaults",
                         {{"ResetType", "PreserveVolumes"}}) == 200);
  REQUIRE(At(instance, collection, "/Members") == before);
  REQUIRE(StatusOfAction(instance, storage, "Storage.ResetToDefaults",
                         {{"ResetType", "ResetAll"}}) == 200);
  REQUIRE(At(instance, collection, "/Members") == Json::array());

  Instance erased(WorldOf("hpe-dl380a-gen12"));
  const std::string volume = redfish::LinkTarget(before.at(0));
  const std::string drive = redfish::LinkTarget(At(erased, volume, "/Links/Drives/0"));
  Json captured = *erased.Find(drive);
  captured["Links"]["Volumes"] = Json::array({{{"@odata.id", volume}}});
  Instance offers(
      Offering("hpe-dl380a-gen12", drive, "Drive.SecureErase", {{"Links", captured["Links"]}}));
  REQUIRE(StatusOfAction(offers, drive, "Drive.SecureErase") == 202);
  REQUIRE(Get(offers, volume).status == 404);
  REQUIRE(At(offers, drive, "/Links/Volumes") == Json::array());
}

TEST_CASE("Collected diagnostic data is a log entry") {
  const std::string log = "/redfish/v1/Managers/1/LogServices/IEL";
  Instance instance(Offering("hpe-dl380a-gen12", log, "LogService.CollectDiagnosticData",
                             {{"@odata.type", "#LogService.v1_8_0.LogService"}}));
  const std::string entries = redfish::LinkTarget(At(instance, log, "/Entries"));
  const std::size_t before = At(instance, entries, "/Members").size();
  REQUIRE(StatusOfAction(instance, log, "LogService.CollectDiagnosticData",
                         {{"DiagnosticDataType", "Manager"}}) == 202);
  const Json members = At(instance, entries, "/Members");
  REQUIRE(members.size() == before + 1);
  REQUIRE(At(instance, redfish::LinkTarget(members.back()), "/DiagnosticDataType") == "Manager");
}

}  // namespace shoal::mockserver
