// SPDX-License-Identifier: Apache-2.0
#include "mockserver/settings.h"

#include <array>
#include <ctime>
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

// The virtual clock as a date: it begins with 1970.
std::string DateTime(std::chrono::milliseconds now) {
  const std::time_t seconds = std::chrono::duration_cast<std::chrono::seconds>(now).count();
  std::tm utc{};
  ::gmtime_r(&seconds, &utc);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text.data();
}

}  // namespace

bool HasBiosAttributes(const Editor& editor, ResourceId id) {
  return editor.world().resource(id).odata_type.starts_with("#Bios.") &&
         editor.Read(id, kAttributes) != nullptr;
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

void ApplySettings(Editor& editor, ResourceId system) {
  const World& world = editor.world();
  const Json* const link = editor.Read(system, "/Bios");
  const auto bios = link == nullptr ? std::nullopt : world.Find(redfish::LinkTarget(*link));
  const auto settings = bios ? world.SettingsOf(*bios) : std::nullopt;
  const std::set<std::string> pending =
      settings ? editor.TakePending(*settings) : std::set<std::string>();
  if (pending.empty()) return;
  const Json* const captured = redfish::Resolve(*world.resource(*settings).json, kAttributes);
  Json left = AttributesOf(editor, *settings);
  for (const std::string& name : pending) {
    const auto value = left.find(name);
    if (value == left.end()) continue;
    editor.Set(*bios, redfish::AppendPointer(kAttributes, name), *value);
    if (captured == nullptr || !captured->contains(name)) left.erase(name);
  }
  editor.Set(*settings, kAttributes, std::move(left));
  editor.SetPresent(*bios, "/@Redfish.Settings/Time", DateTime(editor.now()));
  editor.SetPresent(*bios, "/@Redfish.Settings/Messages", Json::array({ExtendedInfo("Success")}));
}

}  // namespace shoal::mockserver
