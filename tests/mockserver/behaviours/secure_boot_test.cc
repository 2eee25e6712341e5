// SPDX-License-Identifier: Apache-2.0
#include "mockserver/behaviours/secure_boot.h"

#include <catch2/catch.hpp>
#include <string>

#include "tests/mockserver/service/worlds.h"

namespace shoal::mockserver {
namespace {

std::string LinkOf(const Instance& instance, const std::string& uri, const std::string& pointer) {
  return redfish::LinkTarget(At(instance, uri, pointer));
}

}  // namespace

TEST_CASE("Secure Boot is in force from the boot after it was asked for") {
  for (const char* capture : {"dmtf-rackmount1", "hpe-dl380a-gen12", "dell-r750"}) {
    INFO(capture);
    Instance instance(WorldOf(capture));
    const std::string system = LandmarksOf(instance.world()).system;
    const std::string secure_boot = LinkOf(instance, system, "/SecureBoot");
    REQUIRE(At(instance, secure_boot, "/SecureBootCurrentBoot") == "Disabled");
    REQUIRE(Patch(instance, secure_boot, {{"SecureBootEnable", true}}).status == 200);
    REQUIRE(At(instance, secure_boot, "/SecureBootCurrentBoot") == "Disabled");
    REQUIRE(ResetOf(instance, system, "ForceRestart").status < 300);
    REQUIRE(At(instance, secure_boot, "/SecureBootCurrentBoot") == "Enabled");
    REQUIRE(Patch(instance, secure_boot, {{"SecureBootEnable", false}}).status == 200);
    REQUIRE(ResetOf(instance, system, "ForceRestart").status < 300);
    REQUIRE(At(instance, secure_boot, "/SecureBootCurrentBoot") == "Disabled");
  }
}

TEST_CASE("Secure Boot is refused in legacy boot mode, until UEFI mode was booted") {
  Instance instance(WorldOf("dell-r750"));
  const std::string system = LandmarksOf(instance.world()).system;
  const std::string secure_boot = LinkOf(instance, system, "/SecureBoot");
  const std::string settings =
      LinkOf(instance, LinkOf(instance, system, "/Bios"), "/@Redfish.Settings/SettingsObject");
  const auto boot_in = [&](const char* mode) {
    REQUIRE(Patch(instance, settings, {{"Attributes", {{"BootMode", mode}}}}).status == 200);
    REQUIRE(ResetOf(instance, system, "ForceRestart").status < 300);
  };
  boot_in("Bios");
  const Response refused = Patch(instance, secure_boot, {{"SecureBootEnable", true}});
  REQUIRE(refused.status == 400);
  REQUIRE(Messages(refused) == std::vector<std::string>{"PropertyValueConflict"});
  REQUIRE(At(instance, secure_boot, "/SecureBootEnable") == false);
  boot_in("Uefi");
  REQUIRE(Patch(instance, secure_boot, {{"SecureBootEnable", true}}).status == 200);
}

}  // namespace shoal::mockserver
