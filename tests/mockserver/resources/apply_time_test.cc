// SPDX-License-Identifier: Apache-2.0
#include "mockserver/resources/apply_time.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <string>
#include <vector>

#include "tests/mockserver/service/worlds.h"

namespace shoal::mockserver {
namespace {

using Names = std::vector<std::string>;
using std::chrono::seconds;

constexpr const char* kApplyTime = "@Redfish.SettingsApplyTime";
struct Settings {
  explicit Settings(const std::string& capture) : instance(WorldOf(capture)) {
    system = LandmarksOf(instance.world()).system;
    active = redfish::LinkTarget(At(instance, system, "/Bios"));
    attribute = capture == "dell-r750"          ? "SriovGlobalEnable"
                : capture == "hpe-dl380a-gen12" ? "MemFastTraining"
                                                : "ProcTurboMode";
    pointer = "/Attributes/" + attribute;
    before = At(instance, active, pointer);
    after = before == "Enabled" ? "Disabled" : "Enabled";
    body = {{"Attributes", {{attribute, after}}}};
  }
  // Uses the first volume of the Dell, which can be changed at once.
  void UseVolume() {
    active =
        "/redfish/v1/Systems/System.Embedded.1/Storage/CPU.1/Volumes/"
        "Disk.Bay.0:Enclosure.Internal.0-1";
    pointer = "/DisplayName";
    before = nullptr;
    after = "fresh";
    body = {{"DisplayName", after}};
  }
  Response Write(const Json& when) {
    Json asked = body;
    asked[kApplyTime] = when;
    return Patch(instance,
                 redfish::LinkTarget(At(instance, active, "/@Redfish.Settings/SettingsObject")),
                 asked);
  }
  Json Current() const { return At(instance, active, pointer); }
  void Boot() { mockserver::Boot(instance, system); }

  Instance instance;
  std::string system;
  std::string active;
  std::string attribute;
  std::string pointer;
  Json before;
  Json after;
  Json body;
};

}  // namespace

TEST_CASE("Settings wait for the boot that a client asks for by name") {
  for (const std::string& name : kWithBios) {
    INFO(name);
    Settings settings(name);
    REQUIRE(settings
                .Write({{"@odata.type", "#Settings.v1_3_3.PreferredApplyTime"},
                        {"ApplyTime", "OnReset"}})
                .status == 200);
    REQUIRE(settings.Current() == settings.before);
    settings.Boot();
    REQUIRE(settings.Current() == settings.after);
  }
}

TEST_CASE("An apply time that a service does not support is refused, and nothing is written") {
  for (const std::string& name : kWithBios) {
    INFO(name);
    Settings settings(name);
    for (const char* time : {"Immediate", "OnStartUpdateRequest", "Never"}) {
      const Response response = settings.Write({{"ApplyTime", time}});
      REQUIRE(response.status == 400);
      REQUIRE(Messages(response) == Names{"PropertyValueNotInList"});
    }
    REQUIRE(Messages(settings.Write("OnReset")) == Names{"PropertyValueTypeError"});
    REQUIRE(Messages(settings.Write({{"ApplyTime", 5}})) == Names{"PropertyValueTypeError"});
    REQUIRE(Messages(settings.Write(Json::object())) == Names{"PropertyMissing"});
    REQUIRE(settings.instance.changed_resources() == 0);
    settings.Boot();
    REQUIRE(settings.Current() == settings.before);
  }
}

TEST_CASE("Settings that may change at once do when asked to, else at the boot") {
  for (const bool now : {true, false}) {
    Settings settings("dell-r750");
    settings.UseVolume();
    REQUIRE(settings.Current() == settings.before);
    REQUIRE(settings.Write({{"ApplyTime", now ? "Immediate" : "OnReset"}}).status == 200);
    REQUIRE(settings.Current() == (now ? settings.after : settings.before));
    settings.Boot();
    REQUIRE(settings.Current() == settings.after);
  }
}

TEST_CASE("At the start of a maintenance window settings apply without a boot, and not before") {
  Settings settings("dell-r750");
  REQUIRE(settings
              .Write({{"ApplyTime", "AtMaintenanceWindowStart"},
                      {"MaintenanceWindowStartTime", "1970-01-01T01:00:00Z"}})
              .status == 200);
  settings.instance.Advance(seconds(3599));
  settings.Boot();
  REQUIRE(settings.Current() == settings.before);
  settings.instance.Advance(seconds(1));
  REQUIRE(settings.Current() == settings.after);
}

TEST_CASE("A boot applies settings in their maintenance window alone") {
  for (const std::int64_t at : {3599, 3600, 3659, 3660}) {
    Settings settings("dell-r750");
    REQUIRE(settings
                .Write({{"ApplyTime", "InMaintenanceWindowOnReset"},
                        {"MaintenanceWindowStartTime", "1970-01-01T02:00:00+01:00"},
                        {"MaintenanceWindowDurationInSeconds", 60}})
                .status == 200);
    settings.instance.Advance(seconds(at));
    settings.Boot();
    const bool is_inside = at >= 3600 && at < 3660;
    REQUIRE(settings.Current() == (is_inside ? settings.after : settings.before));
    // A later choice replaces an earlier one.
    REQUIRE(settings.Write({{"ApplyTime", "OnReset"}}).status == 200);
    settings.Boot();
    REQUIRE(settings.Current() == settings.after);
  }
}

TEST_CASE("A maintenance window needs a start that is a date, and a sensible length") {
  Settings settings("dell-r750");
  const auto refusal = [&settings](const Json& start, const Json& length) {
    const Response response = settings.Write({{"ApplyTime", "InMaintenanceWindowOnReset"},
                                              {"MaintenanceWindowStartTime", start},
                                              {"MaintenanceWindowDurationInSeconds", length}});
    REQUIRE(response.status == 400);
    return Messages(response);
  };
  REQUIRE(refusal(nullptr, 60) == Names{"PropertyMissing"});
  REQUIRE(refusal("soon", 60) == Names{"PropertyValueFormatError"});
  REQUIRE(refusal("infinite-future", 60) == Names{"PropertyValueFormatError"});
  REQUIRE(refusal("2025-01-01T00:00:00Z", 0) == Names{"PropertyValueOutOfRange"});
  REQUIRE(refusal("2025-01-01T00:00:00Z", 1e300) == Names{"PropertyValueOutOfRange"});
  REQUIRE(refusal("2025-01-01T00:00:00Z", std::int64_t{1} << 62) ==
          Names{"PropertyValueOutOfRange"});
}

}  // namespace shoal::mockserver
