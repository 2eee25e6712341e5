// SPDX-License-Identifier: Apache-2.0
#include "mockserver/secure_boot.h"

#include <absl/strings/match.h>

#include "redfish/uri.h"

namespace shoal::mockserver {
namespace {

constexpr const char* kBootMode = "BootMode";

std::optional<ResourceId> Linked(const Editor& editor, ResourceId id, std::string_view pointer) {
  const Json* const link = editor.Read(id, pointer);
  return link == nullptr ? std::nullopt : editor.world().Find(redfish::LinkTarget(*link));
}

}  // namespace

std::optional<std::string> SecureBootConflict(const Editor& editor, ResourceId id,
                                              std::string_view pointer, const Json& value) {
  const World::Resource& resource = editor.world().resource(id);
  const bool asks = pointer == "/SecureBootEnable" && value == Json(true) &&
                    resource.odata_type.starts_with("#SecureBoot.");
  if (!asks) return std::nullopt;
  const auto system = editor.world().Find(resource.uri.substr(0, resource.uri.rfind('/')));
  const auto bios = system ? Linked(editor, *system, "/Bios") : std::nullopt;
  if (!bios) return std::nullopt;
  const std::string mode = editor.Text(*bios, std::string("/Attributes/") + kBootMode);
  if (mode.empty() || absl::EqualsIgnoreCase(mode, "Uefi")) return std::nullopt;
  return kBootMode;
}

void ApplySecureBoot(Editor& editor, ResourceId system) {
  const auto secure_boot = Linked(editor, system, "/SecureBoot");
  if (!secure_boot || !editor.IsChanged(*secure_boot)) return;
  const Json* const enable = editor.Read(*secure_boot, "/SecureBootEnable");
  const bool enabled = enable != nullptr && enable->is_boolean() && enable->get<bool>();
  editor.SetPresent(*secure_boot, "/SecureBootCurrentBoot", enabled ? "Enabled" : "Disabled");
}

}  // namespace shoal::mockserver
