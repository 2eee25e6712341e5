// SPDX-License-Identifier: Apache-2.0
#include "mockserver/resources/settings.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "mockserver/messages/extended_info.h"
#include "mockserver/resources/boot_queue.h"
#include "redfish/capture/uri.h"
#include "redfish/schema/attribute_registry.h"

namespace shoal::mockserver {
namespace {

constexpr const char* kAttributes = "/Attributes";

Json AttributesOf(const Editor& editor, ResourceId id) {
  const Json* const attributes = editor.Read(id, kAttributes);
  return attributes != nullptr && attributes->is_object() ? *attributes : Json::object();
}

std::string_view MisfitByExample(const Json& example, const Json& value) {
  const bool alike = example.is_number() ? value.is_number() : example.type() == value.type();
  return alike || example.is_null() ? std::string_view() : "PropertyValueTypeError";
}

// The values of one settings object that were written but not applied yet.
struct Pending {
  std::set<std::string> pointers;
  // A boot outside this window applies nothing.
  std::chrono::milliseconds window_start{};
  std::chrono::milliseconds window_end{};
};

struct PendingSettings {
  std::map<ResourceId, Pending> by_object;
  // The BIOSes whose attributes are reset to their defaults at the next boot.
  std::set<ResourceId> resets;
};

std::string SettingsKey(ResourceId settings) { return "settings:" + std::to_string(settings); }

// Attributes that were captured in the settings object stay listed there.
void Unlist(Editor& editor, ResourceId settings, const std::set<std::string>& pointers) {
  const Json* const captured = redfish::Resolve(*editor.resource(settings).json, kAttributes);
  Json left = AttributesOf(editor, settings);
  bool changes = false;
  for (const std::string& pointer : pointers) {
    const std::vector<std::string> tokens = redfish::PointerTokens(pointer);
    if (tokens.size() != 2 || tokens[0] != "Attributes") continue;
    const bool stays = captured != nullptr && captured->contains(tokens[1]);
    if (!stays && left.erase(tokens[1]) > 0) changes = true;
  }
  if (changes) editor.Set(settings, kAttributes, std::move(left));
}

void Apply(Editor& editor, ResourceId settings) {
  const auto taken = editor.Notes<PendingSettings>().by_object.extract(settings);
  const auto active = editor.world().ActiveOf(settings);
  if (taken.empty() || !active) return;
  editor.CancelTimer(SettingsKey(settings));
  const std::set<std::string>& pointers = taken.mapped().pointers;
  for (const std::string& pointer : pointers) {
    const Json* const written = editor.Read(settings, pointer);
    if (written == nullptr) continue;
    Json value = *written;
    if (value.is_array()) editor.SetPresent(*active, pointer + "@odata.count", value.size());
    editor.Set(*active, pointer, std::move(value));
  }
  Unlist(editor, settings, pointers);
  editor.SetPresent(*active, "/@Redfish.Settings/Time", editor.DateTime());
  editor.SetPresent(*active, "/@Redfish.Settings/Messages", Json::array({ExtendedInfo("Success")}));
}

// The attributes that a settings object lists without being pending are reset as well.
void ApplyDefaults(Editor& editor, ResourceId bios) {
  PendingSettings& notes = editor.Notes<PendingSettings>();
  if (notes.resets.erase(bios) == 0) return;
  const auto* const registry =
      editor.world().FindAttributeRegistry(editor.Text(bios, "/AttributeRegistry"));
  const Json* const captured = redfish::Resolve(*editor.resource(bios).json, kAttributes);
  const auto settings = editor.world().SettingsOf(bios);
  const auto waits = settings ? notes.by_object.find(*settings) : notes.by_object.end();
  Json attributes = AttributesOf(editor, bios);
  // Attributes that the registry does not cover return to their captured values.
  if (captured != nullptr && captured->is_object()) attributes.update(*captured);
  const Json defaults = redfish::DefaultAttributes(attributes, registry);
  for (const auto& [name, standard] : defaults.items()) {
    const std::string pointer = redfish::AppendPointer(kAttributes, name);
    editor.Set(bios, pointer, standard);
    const bool is_pending =
        waits != notes.by_object.end() && waits->second.pointers.contains(pointer);
    if (settings && !is_pending) editor.SetPresent(*settings, pointer, standard);
  }
  editor.SetPresent(bios, "/ResetBiosToDefaultsPending", false);
}

void ApplySettings(Editor& editor, ResourceId system, Json& /*boot*/) {
  if (editor.FindNotes<PendingSettings>() == nullptr) return;
  const auto bios = editor.Linked(system, "/Bios");
  if (bios) ApplyDefaults(editor, *bios);
  std::vector<ResourceId> due;
  for (const auto& [settings, pending] : editor.Notes<PendingSettings>().by_object) {
    const bool in_window =
        editor.now() >= pending.window_start && editor.now() < pending.window_end;
    if (in_window && SystemOf(editor, settings) == system) due.push_back(settings);
  }
  for (const ResourceId settings : due) Apply(editor, settings);
}

}  // namespace

bool HasBiosAttributes(const Editor& editor, ResourceId id) {
  const ResourceId bios = editor.world().ActiveOf(id).value_or(id);
  return editor.IsA(bios, "Bios") && editor.Read(bios, kAttributes) != nullptr;
}

std::vector<AttributeProblem> JudgeAttributes(const Editor& editor, ResourceId id,
                                              const Json& attributes) {
  const World& world = editor.world();
  const ResourceId bios = world.ActiveOf(id).value_or(id);
  const bool has_settings = world.SettingsOf(id).has_value();
  const redfish::AttributeRegistry* const registry =
      world.FindAttributeRegistry(editor.Text(bios, "/AttributeRegistry"));
  const Json present = AttributesOf(editor, bios);
  Json current = present;
  current.update(AttributesOf(editor, id));
  current.update(attributes);
  std::vector<AttributeProblem> problems;
  for (const auto& [name, value] : attributes.items()) {
    std::string_view message;
    if (has_settings) {
      message = "PropertyNotWritable";
    } else if (registry != nullptr) {
      message = registry->Misfit(name, value, current);
    } else if (const auto example = present.find(name); example != present.end()) {
      message = MisfitByExample(*example, value);
    } else {
      message = "PropertyUnknown";
    }
    if (!message.empty()) problems.push_back({name, message});
  }
  return problems;
}

void AwaitApplyTime(Editor& editor, ResourceId settings, const std::vector<std::string>& pointers,
                    const ApplyTimeChoice& choice) {
  Pending& pending = editor.Notes<PendingSettings>().by_object[settings];
  pending.pointers.insert(pointers.begin(), pointers.end());
  pending.window_start = choice.window_start;
  pending.window_end = choice.window_end;
  editor.CancelTimer(SettingsKey(settings));
  if (choice.time == ApplyTime::kImmediate) return Apply(editor, settings);
  if (choice.time != ApplyTime::kAtMaintenanceWindowStart) return;
  const auto delay = std::max(choice.window_start - editor.now(), std::chrono::milliseconds(0));
  editor.SetTimer(SettingsKey(settings), delay,
                  [settings](Editor& later) { Apply(later, settings); });
}

void AwaitDefaults(Editor& editor, ResourceId bios) {
  editor.Notes<PendingSettings>().resets.insert(bios);
  editor.SetPresent(bios, "/ResetBiosToDefaultsPending", true);
}

void AddSettings(HandlerTable& handlers) { handlers.OnBoot(BootStage::kApply, &ApplySettings); }

}  // namespace shoal::mockserver
