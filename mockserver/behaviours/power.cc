// SPDX-License-Identifier: Apache-2.0
#include "mockserver/behaviours/power.h"

#include <algorithm>
#include <string>
#include <vector>

#include "mockserver/events/events.h"
#include "mockserver/messages/extended_info.h"
#include "redfish/capture/uri.h"
#include "redfish/goals/predicate.h"

namespace shoal::mockserver {
namespace {

enum class Step { kNothing, kTurnOn, kTurnOff, kRestart, kRefuse };

// Managers of these vendors refuse to restart a system that is off; others turn it on.
bool RefusesRestartOfOff(const Editor& editor) {
  const auto root = editor.Find(redfish::kServiceRoot);
  if (!root) return false;
  const std::string vendor = editor.Text(*root, "/Vendor");
  return vendor == "Dell" || vendor == "HPE" || editor.Read(*root, "/Oem/Dell") != nullptr ||
         editor.Read(*root, "/Oem/Hpe") != nullptr;
}

Step StepFor(const Editor& editor, const std::string& type, const std::string& state) {
  const bool off = state == "Off";
  if (state == "PoweringOn" || state == "PoweringOff") {
    return type == "ForceOff" ? Step::kTurnOff : Step::kRefuse;
  }
  if (type == "On" || type == "ForceOn") return off ? Step::kTurnOn : Step::kNothing;
  if (type == "ForceOff") return off ? Step::kNothing : Step::kTurnOff;
  if (type == "PushPowerButton") return off ? Step::kTurnOn : Step::kTurnOff;
  const bool forces_restart =
      type == "ForceRestart" || type == "PowerCycle" || type == "FullPowerCycle";
  if (off && forces_restart && !RefusesRestartOfOff(editor)) return Step::kTurnOn;
  if (off) return Step::kRefuse;
  if (type == "GracefulShutdown") return Step::kTurnOff;
  if (type == "Nmi") return Step::kNothing;
  return forces_restart || type == "GracefulRestart" ? Step::kRestart : Step::kRefuse;
}

void SetPowerState(Editor& editor, ResourceId unit, const std::string& state) {
  editor.SetPresent(unit, "/PowerState", state);
  for (const ResourceId chassis : editor.LinkedAll(unit, "/Links/Chassis")) {
    const std::vector<ResourceId> systems = editor.LinkedAll(chassis, "/Links/ComputerSystems");
    const bool another_on = std::any_of(systems.begin(), systems.end(), [&](ResourceId system) {
      return system != unit && editor.Text(system, "/PowerState") == "On";
    });
    editor.SetPresent(chassis, "/PowerState", another_on ? std::string("On") : state);
  }
  AnnouncePower(editor, unit, state);
}

void Boot(Editor& editor, ResourceId system) {
  const HandlerTable& handlers = editor.handlers();
  Json boot = Json::object();
  handlers.RunBootHooks(BootStage::kApply, editor, system, boot);
  const std::string enabled = editor.Text(system, "/Boot/BootSourceOverrideEnabled");
  const std::string target = editor.Text(system, "/Boot/BootSourceOverrideTarget");
  const bool is_overridden = (enabled == "Once" || enabled == "Continuous") && !target.empty();
  boot["target"] = is_overridden ? target : "None";
  handlers.RunBootHooks(BootStage::kStart, editor, system, boot);
  editor.Record(redfish::kBootRecord, system, boot);
  if (enabled == "Once") {
    editor.SetPresent(system, "/Boot/BootSourceOverrideEnabled", "Disabled");
    editor.SetPresent(system, "/Boot/BootSourceOverrideTarget", "None");
  }
  editor.SetPresent(system, "/BootProgress/LastState", "OSRunning");
  handlers.RunBootHooks(BootStage::kUp, editor, system, boot);
}

// Only systems boot. A chassis without any system only changes its state.
bool IsSystem(const Editor& editor, ResourceId unit) { return editor.IsA(unit, "ComputerSystem"); }

void CompleteTransient(Editor& editor, ResourceId unit, bool power_on) {
  SetPowerState(editor, unit, power_on ? "On" : "Off");
  if (!IsSystem(editor, unit)) return;
  if (power_on) {
    Boot(editor, unit);
  } else {
    editor.SetPresent(unit, "/BootProgress/LastState", "None");
  }
}

void Take(Editor& editor, ResourceId unit, Step step) {
  if (step == Step::kNothing) return;
  editor.SetPresent(unit, "/LastResetTime", editor.DateTime());
  const bool power_on = step != Step::kTurnOff;
  const std::string timer = "power:" + editor.Uri(unit);
  editor.CancelTimer(timer);
  if (editor.options().power_transient.count() <= 0) {
    return CompleteTransient(editor, unit, power_on);
  }
  SetPowerState(editor, unit, power_on ? "PoweringOn" : "PoweringOff");
  editor.SetTimer(timer, editor.options().power_transient,
                  [unit, power_on](Editor& later) { CompleteTransient(later, unit, power_on); });
}

Response ResetPower(Editor& editor, const Call& call) {
  const std::string type = redfish::TextAt(call.body, "ResetType");
  if (type.empty()) {
    return ErrorResponse(400, "ActionParameterMissing", {call.action->name, "ResetType"});
  }
  std::vector<ResourceId> units = editor.LinkedAll(call.resource, "/Links/ComputerSystems");
  if (IsSystem(editor, call.resource) || units.empty()) units = {call.resource};

  std::vector<Step> steps;
  for (const ResourceId unit : units) {
    steps.push_back(StepFor(editor, type, editor.Text(unit, "/PowerState")));
    if (steps.back() == Step::kRefuse) return ErrorResponse(409, "ResourceInStandby");
  }
  editor.Record(redfish::kResetRecord, call.resource, {{"ResetType", type}});
  for (std::size_t i = 0; i < units.size(); ++i) Take(editor, units[i], steps[i]);
  return Done(editor);
}

}  // namespace

void AddPower(HandlerTable& handlers) {
  handlers.OnAction("ComputerSystem.Reset", &ResetPower);
  handlers.OnAction("Chassis.Reset", &ResetPower);
}

}  // namespace shoal::mockserver
