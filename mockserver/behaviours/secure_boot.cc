// SPDX-License-Identifier: Apache-2.0
#include "mockserver/behaviours/secure_boot.h"

#include <absl/strings/match.h>

#include <optional>
#include <string>

#include "mockserver/messages/extended_info.h"
#include "mockserver/resources/patch.h"
#include "redfish/capture/uri.h"

namespace shoal::mockserver {
namespace {

constexpr const char* kBootMode = "BootMode";

bool BootsInLegacyMode(const Editor& editor, ResourceId secure_boot) {
  const auto system = editor.Parent(secure_boot);
  const auto bios = system ? editor.Linked(*system, "/Bios") : std::nullopt;
  if (!bios) return false;
  const std::string mode = editor.Text(*bios, std::string("/Attributes/") + kBootMode);
  return !mode.empty() && !absl::EqualsIgnoreCase(mode, "Uefi");
}

Response PatchSecureBoot(Editor& editor, const Call& call) {
  const auto objection = [&](const std::string& pointer, const Json& value) -> std::optional<Json> {
    const bool asks = pointer == "/SecureBootEnable" && value == Json(true);
    if (!asks || !BootsInLegacyMode(editor, call.resource)) return std::nullopt;
    return ExtendedInfo("PropertyValueConflict", {"SecureBootEnable", kBootMode}, pointer);
  };
  return Patch(editor, call.resource, call.body, {.objection = objection});
}

void ApplySecureBoot(Editor& editor, ResourceId system, Json& /*boot*/) {
  const auto secure_boot = editor.Linked(system, "/SecureBoot");
  if (!secure_boot || !editor.IsChanged(*secure_boot)) return;
  const bool enabled = editor.IsTrue(*secure_boot, "/SecureBootEnable");
  editor.SetPresent(*secure_boot, "/SecureBootCurrentBoot", enabled ? "Enabled" : "Disabled");
}

}  // namespace

void AddSecureBoot(HandlerTable& handlers) {
  handlers.On(Method::kPatch, "SecureBoot", &PatchSecureBoot);
  handlers.OnBoot(BootStage::kStart, &ApplySecureBoot);
}

}  // namespace shoal::mockserver
