// SPDX-License-Identifier: Apache-2.0
#include "mockserver/settings.h"

#include <map>
#include <set>
#include <string>
#include <utility>

#include "mockserver/extended_info.h"
#include "redfish/attribute_registry.h"
#include "redfish/uri.h"

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

// Attributes written to settings objects since the last boot.
struct PendingAttributes {
  std::map<ResourceId, std::set<std::string>> names;
};

}  // namespace

bool HasBiosAttributes(const Editor& editor, ResourceId id) {
  return editor.IsA(id, "Bios") && editor.Read(id, kAttributes) != nullptr;
}

std::vector<AttributeProblem> JudgeAttributes(const Editor& editor, ResourceId id,
                                              const Json& attributes) {
  const World& world = editor.world();
  const ResourceId bios = world.ActiveOf(id).value_or(id);
  const bool has_settings = world.SettingsOf(id).has_value();
  const redfish::AttributeRegistry* const registry =
      world.FindAttributeRegistry(editor.Text(bios, "/AttributeRegistry"));
  Json current = AttributesOf(editor, bios);
  current.update(AttributesOf(editor, id));
  current.update(attributes);
  const Json present = AttributesOf(editor, bios);
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

void AwaitBoot(Editor& editor, ResourceId settings, const std::string& attribute) {
  editor.Notes<PendingAttributes>().names[settings].insert(attribute);
}

void ApplySettings(Editor& editor, ResourceId system) {
  const auto bios = editor.Linked(system, "/Bios");
  const auto settings = bios ? editor.world().SettingsOf(*bios) : std::nullopt;
  if (!settings) return;
  const auto taken = editor.Notes<PendingAttributes>().names.extract(*settings);
  if (taken.empty()) return;
  const std::set<std::string>& pending = taken.mapped();
  const Json* const captured = redfish::Resolve(*editor.resource(*settings).json, kAttributes);
  Json left = AttributesOf(editor, *settings);
  for (const std::string& name : pending) {
    const auto value = left.find(name);
    if (value == left.end()) continue;
    editor.Set(*bios, redfish::AppendPointer(kAttributes, name), *value);
    if (captured == nullptr || !captured->contains(name)) left.erase(name);
  }
  editor.Set(*settings, kAttributes, std::move(left));
  editor.SetPresent(*bios, "/@Redfish.Settings/Time", editor.DateTime());
  editor.SetPresent(*bios, "/@Redfish.Settings/Messages", Json::array({ExtendedInfo("Success")}));
}

}  // namespace shoal::mockserver
