// SPDX-License-Identifier: Apache-2.0
#include "mockserver/behaviours/secure_boot.h"

#include <absl/strings/match.h>

#include "redfish/capture/uri.h"

namespace shoal::mockserver {
namespace {

constexpr const char* kBootMode = "BootMode";

}  // namespace

std::optional<std::string> SecureBootConflict(const Editor& editor, ResourceId id,
                                              std::string_view pointer, const Json& value) {
  const bool asks =
      pointer == "/SecureBootEnable" && value == Json(true) && editor.IsA(id, "SecureBoot");
  if (!asks) return std::nullopt;
  const auto system = editor.Parent(id);
  const auto bios = system ? editor.Linked(*system, "/Bios") : std::nullopt;
  if (!bios) return std::nullopt;
  const std::string mode = editor.Text(*bios, std::string("/Attributes/") + kBootMode);
  if (mode.empty() || absl::EqualsIgnoreCase(mode, "Uefi")) return std::nullopt;
  return kBootMode;
}

void ApplySecureBoot(Editor& editor, ResourceId system) {
  const auto secure_boot = editor.Linked(system, "/SecureBoot");
  if (!secure_boot || !editor.IsChanged(*secure_boot)) return;
  const bool enabled = editor.IsTrue(*secure_boot, "/SecureBootEnable");
  editor.SetPresent(*secure_boot, "/SecureBootCurrentBoot", enabled ? "Enabled" : "Disabled");
}

}  // namespace shoal::mockserver
