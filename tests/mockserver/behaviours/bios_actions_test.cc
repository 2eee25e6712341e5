// SPDX-License-Identifier: Apache-2.0
#include "mockserver/behaviours/bios_actions.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "redfish/schema/attribute_registry.h"
#include "tests/mockserver/service/worlds.h"

namespace shoal::mockserver {
namespace {

using Names = std::vector<std::string>;

struct BiosActions {
  explicit BiosActions(const std::string& capture) : instance(WorldOf(capture)) {
    system = LandmarksOf(instance.world()).system;
    active = redfish::LinkTarget(At(instance, system, "/Bios"));
    const Json registry_name = At(instance, active, "/AttributeRegistry");
    if (registry_name.is_string()) {
      registry = instance.world().FindAttributeRegistry(registry_name.get<std::string>());
    }
  }
  Response Act(const std::string& action, const Json& body) {
    const std::string target = At(instance, active, "/Actions/#Bios." + action + "/target");
    return Post(instance, target, body);
  }
  // Writes to the settings object.
  Response Write(const char* attribute, const Json& value) {
    const Json link = At(instance, active, "/@Redfish.Settings/SettingsObject");
    return Patch(instance, redfish::LinkTarget(link), {{"Attributes", {{attribute, value}}}});
  }
  Response ChangePassword(const std::string& name, const std::string& from, const std::string& to) {
    return Act("ChangePassword",
               {{"PasswordName", name}, {"OldPassword", from}, {"NewPassword", to}});
  }
  void Boot() { mockserver::Boot(instance, system); }
  Json Attributes() const { return At(instance, active, "/Attributes"); }
  // Returns the attributes after ResetBios.
  Json Defaults() const {
    Json defaults = Attributes();
    for (auto& [name, value] : defaults.items()) {
      const Json* const known = registry == nullptr ? nullptr : registry->Default(name);
      if (known != nullptr) value = *known;
    }
    return defaults;
  }

  Instance instance;
  std::string system;
  std::string active;
  const redfish::AttributeRegistry* registry = nullptr;
};

// Returns an attribute of the capture that can be Enabled and Disabled.
const char* Attribute(const std::string& capture) {
  return capture == "hpe-dl380a-gen12" ? "MemFastTraining"
         : capture == "dell-r750"      ? "SriovGlobalEnable"
                                       : "ProcTurboMode";
}

}  // namespace

TEST_CASE("Drifted BIOS attributes have their defaults after a reset to them and a boot") {
  for (const std::string& name : kWithBios) {
    INFO(name);
    BiosActions bios(name);
    const Json defaults = bios.Defaults();
    const std::string pointer = std::string("/Attributes/") + Attribute(name);
    const Json usual = defaults.at(Attribute(name));
    const Json drifted = usual == "Enabled" ? "Disabled" : "Enabled";
    const std::vector<redfish::StartOperation> start = {
        {.uri = bios.active, .pointer = pointer, .value = drifted}};
    REQUIRE(bios.instance.Reset(start).ok());
    REQUIRE(bios.Act("ResetBios", Json::object()).status == 200);
    REQUIRE(At(bios.instance, bios.active, pointer) == drifted);
    bios.Boot();
    REQUIRE(bios.Attributes() == defaults);
    const Json pending = At(bios.instance, bios.active, "/ResetBiosToDefaultsPending");
    REQUIRE((pending.is_null() || pending == false));
    // The reset applies once: an attribute that is changed afterwards stays changed.
    REQUIRE(bios.Write(Attribute(name), drifted).status == 200);
    bios.Boot();
    bios.Boot();
    REQUIRE(At(bios.instance, bios.active, pointer) == drifted);
    REQUIRE(bios.Act("ResetBios", Json::object()).status == 200);
    REQUIRE(bios.instance.Reset(start).ok());
    bios.Boot();
    REQUIRE(At(bios.instance, bios.active, pointer) == drifted);
  }
}

TEST_CASE("What is pending is applied after the defaults, whichever came first") {
  for (const std::string& name : kWithBios) {
    for (const bool reset_first : {true, false}) {
      INFO(name);
      BiosActions bios(name);
      Json expected = bios.Defaults();
      Json& value = expected.at(Attribute(name));
      value = value == "Enabled" ? "Disabled" : "Enabled";
      if (reset_first) REQUIRE(bios.Act("ResetBios", Json::object()).status == 200);
      REQUIRE(bios.Write(Attribute(name), value).status == 200);
      if (!reset_first) REQUIRE(bios.Act("ResetBios", Json::object()).status == 200);
      bios.Boot();
      REQUIRE(bios.Attributes() == expected);
    }
  }
}

TEST_CASE("A registry's defaults differ from what one capture has") {
  const BiosActions bios("hpe-dl380a-gen12");
  REQUIRE(bios.Defaults() != bios.Attributes());
}

TEST_CASE("A BIOS without attributes takes a reset and has nothing to reset") {
  BiosActions bios("openbmc-stock");
  const Json before = *bios.instance.Find(bios.active);
  REQUIRE(bios.Act("ResetBios", Json::object()).status == 200);
  bios.Boot();
  REQUIRE(*bios.instance.Find(bios.active) == before);
}

TEST_CASE("A BIOS password is changed by who knows the old one, and recorded") {
  for (const std::string& name : kWithBios) {
    INFO(name);
    BiosActions bios(name);
    const std::string which = "SetupPassword";
    REQUIRE(bios.ChangePassword(which, "wrong", "first").status == 400);
    REQUIRE(bios.instance.history().empty());
    REQUIRE(bios.ChangePassword(which, "", "first").status == 200);
    const Response wrong = bios.ChangePassword(which, "", "secret99");
    REQUIRE(wrong.status == 400);
    REQUIRE(Messages(wrong) == Names{"ActionParameterValueError"});
    REQUIRE(wrong.body->find("secret99") == std::string::npos);
    REQUIRE(bios.ChangePassword(which, "first", "second").status == 200);
    REQUIRE(bios.instance.history().size() == 2);
    const redfish::HistoryRecord& record = bios.instance.history().back();
    REQUIRE(record.kind == redfish::kPasswordRecord);
    REQUIRE(record.uri == redfish::CanonicalUri(record.uri));
    REQUIRE(record.detail == Json{{"PasswordName", which}, {"NewPassword", "second"}});
    // Each password name has a password of its own.
    REQUIRE(bios.ChangePassword("SysPassword", "", "other").status == 200);
    REQUIRE(bios.instance.changed_resources() == 0);
    REQUIRE(bios.instance.Reset().ok());
    REQUIRE(bios.ChangePassword(which, "second", "third").status == 400);
    REQUIRE(bios.ChangePassword(which, "", "third").status == 200);
  }
}

TEST_CASE("Passwords that the BIOS does not have, or that are too long, are refused") {
  BiosActions dell("dell-r750");
  REQUIRE(dell.ChangePassword("NoSuchPassword", "", "x").status == 400);
  REQUIRE(dell.ChangePassword("SetupPassword", "", std::string(33, 'x')).status == 400);
  REQUIRE(dell.ChangePassword("SetupPassword", "", std::string(32, 'x')).status == 200);
  BiosActions hpe("hpe-dl380a-gen12");
  REQUIRE(hpe.ChangePassword("", "", "x").status == 400);
  for (std::size_t i = 0; i <= kMaximumPasswords; ++i) {
    const int status = hpe.ChangePassword("Password" + std::to_string(i), "", "x").status;
    REQUIRE(status == (i < kMaximumPasswords ? 200 : 400));
  }
  REQUIRE(hpe.Act("ChangePassword", {{"PasswordName", "Admin"}}).status == 400);
}

}  // namespace shoal::mockserver
