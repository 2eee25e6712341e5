// SPDX-License-Identifier: Apache-2.0
#include "mockserver/power.h"

#include <algorithm>
#include <string>
#include <vector>

#include "mockserver/actions.h"
#include "mockserver/extended_info.h"
#include "mockserver/secure_boot.h"
#include "mockserver/settings.h"
#include "redfish/predicate.h"
#include "redfish/uri.h"

namespace shoal::mockserver {
namespace {

enum class Step { kNothing, kTurnOn, kTurnOff, kRestart, kRefuse };

Step StepFor(const std::string& type, const std::string& state) {
  const bool off = state == "Off";
  if (state == "PoweringOn" || state == "PoweringOff") {
    return type == "ForceOff" ? Step::kTurnOff : Step::kRefuse;
  }
  if (type == "On" || type == "ForceOn") return off ? Step::kTurnOn : Step::kNothing;
  if (type == "ForceOff") return off ? Step::kNothing : Step::kTurnOff;
  if (type == "PushPowerButton") return off ? Step::kTurnOn : Step::kTurnOff;
  if (off) return Step::kRefuse;
  if (type == "GracefulShutdown") return Step::kTurnOff;
  if (type == "Nmi") return Step::kNothing;
  const bool restarts = type == "GracefulRestart" || type == "ForceRestart" ||
                        type == "PowerCycle" || type == "FullPowerCycle";
  return restarts ? Step::kRestart : Step::kRefuse;
}

// Resources of the world that the array at `pointer` links.
std::vector<ResourceId> Linked(const Editor& editor, ResourceId id, std::string_view pointer) {
  std::vector<ResourceId> linked;
  const Json* const links = editor.Read(id, pointer);
  if (links == nullptr || !links->is_array()) return linked;
  for (const Json& link : *links) {
    const auto target = editor.world().Find(redfish::LinkTarget(link));
    if (target.has_value() && std::find(linked.begin(), linked.end(), *target) == linked.end()) {
      linked.push_back(*target);
    }
  }
  return linked;
}

void SetPowerState(Editor& editor, ResourceId unit, const std::string& state) {
  editor.SetPresent(unit, "/PowerState", state);
  for (const ResourceId chassis : Linked(editor, unit, "/Links/Chassis")) {
    const std::vector<ResourceId> systems = Linked(editor, chassis, "/Links/ComputerSystems");
    const bool another_on = std::any_of(systems.begin(), systems.end(), [&](ResourceId system) {
      return system != unit && editor.Text(system, "/PowerState") == "On";
    });
    editor.SetPresent(chassis, "/PowerState", another_on ? std::string("On") : state);
  }
}

void Boot(Editor& editor, ResourceId system) {
  const std::string enabled = editor.Text(system, "/Boot/BootSourceOverrideEnabled");
  const std::string target = editor.Text(system, "/Boot/BootSourceOverrideTarget");
  ApplySettings(editor, system);
  ApplySecureBoot(editor, system);
  const bool is_overridden = (enabled == "Once" || enabled == "Continuous") && !target.empty();
  editor.Record(redfish::kBootRecord, system, {{"target", is_overridden ? target : "None"}});
  if (enabled == "Once") {
    editor.SetPresent(system, "/Boot/BootSourceOverrideEnabled", "Disabled");
    editor.SetPresent(system, "/Boot/BootSourceOverrideTarget", "None");
  }
  editor.SetPresent(system, "/BootProgress/LastState", "OSRunning");
}

// Boots are of systems; a chassis without any only changes its state.
bool IsSystem(const Editor& editor, ResourceId unit) {
  return editor.world().resource(unit).odata_type.starts_with("#ComputerSystem.");
}

void Take(Editor& editor, ResourceId unit, Step step) {
  if (step == Step::kNothing) return;
  const bool power_on = step != Step::kTurnOff;
  editor.CancelPowerTimer(unit);
  if (editor.options().power_transient.count() <= 0) {
    return CompletePowerTransient(editor, unit, power_on);
  }
  SetPowerState(editor, unit, power_on ? "PoweringOn" : "PoweringOff");
  editor.SetPowerTimer(unit, editor.options().power_transient, power_on);
}

}  // namespace

Response ResetPower(Editor& editor, const World::Action& action, const Json& parameters) {
  const auto given = parameters.find("ResetType");
  if (given == parameters.end() || !given->is_string()) {
    return ErrorResponse(400, "ActionParameterMissing", {action.name, "ResetType"});
  }
  const std::string type = given->get<std::string>();
  std::vector<ResourceId> units = Linked(editor, action.resource, "/Links/ComputerSystems");
  if (IsSystem(editor, action.resource) || units.empty()) units = {action.resource};

  std::vector<Step> steps;
  for (const ResourceId unit : units) {
    steps.push_back(StepFor(type, editor.Text(unit, "/PowerState")));
    if (steps.back() == Step::kRefuse) return ErrorResponse(409, "ResourceInStandby");
  }
  editor.Record(redfish::kResetRecord, action.resource, {{"ResetType", type}});
  for (std::size_t i = 0; i < units.size(); ++i) Take(editor, units[i], steps[i]);
  return ActionDone(editor);
}

void CompletePowerTransient(Editor& editor, ResourceId system, bool power_on) {
  SetPowerState(editor, system, power_on ? "On" : "Off");
  if (!IsSystem(editor, system)) return;
  if (power_on) {
    Boot(editor, system);
  } else {
    editor.SetPresent(system, "/BootProgress/LastState", "None");
  }
}

}  // namespace shoal::mockserver
