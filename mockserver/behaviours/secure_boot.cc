// SPDX-License-Identifier: Apache-2.0
#include "mockserver/behaviours/secure_boot.h"

#include <absl/strings/match.h>

#include <optional>
#include <string>
#include <string_view>

#include "mockserver/messages/extended_info.h"
#include "mockserver/resources/captured_state.h"
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

void ResetDatabase(Editor& editor, ResourceId database, bool deletes) {
  for (const char* keys : {"/Certificates", "/Signatures"}) {
    const auto collection = editor.Linked(database, keys);
    if (!collection) continue;
    if (deletes) {
      editor.RemoveMembers(*collection);
    } else {
      RestoreCaptured(editor, std::string(editor.Uri(*collection)));
    }
  }
}

// Returns the database that a type of reset is for: "PK" for ResetPK and DeletePK, and an empty
// text for all databases.
std::string DatabaseOf(std::string_view type) {
  for (const std::string_view verb : {"Reset", "Delete"}) {
    if (type.starts_with(verb)) type.remove_prefix(verb.size());
  }
  return type.starts_with("AllKeys") ? std::string() : std::string(type);
}

Response ResetKeys(Editor& editor, const Call& call) {
  const std::string type = redfish::TextAt(call.body, "ResetKeysType");
  if (type.empty()) {
    return ErrorResponse(400, "ActionParameterMissing", {call.action->name, "ResetKeysType"});
  }
  const bool deletes = type.starts_with("Delete");
  const std::string chosen = DatabaseOf(type);
  if (const auto databases = editor.Linked(call.resource, "/SecureBootDatabases")) {
    for (const ResourceId database : editor.Members(*databases)) {
      const std::string name = editor.Text(database, "/DatabaseId");
      const bool is_default = name.ends_with("Default");
      const bool is_meant = chosen.empty() ? !is_default : absl::EqualsIgnoreCase(name, chosen);
      if (is_meant) ResetDatabase(editor, database, deletes);
    }
  }
  if (chosen.empty() || chosen == "PK") {
    editor.SetPresent(call.resource, "/SecureBootMode", deletes ? "SetupMode" : "UserMode");
  }
  return Done(editor);
}

Response ResetKeysOfDatabase(Editor& editor, const Call& call) {
  const std::string type = redfish::TextAt(call.body, "ResetKeysType");
  if (type.empty()) {
    return ErrorResponse(400, "ActionParameterMissing", {call.action->name, "ResetKeysType"});
  }
  ResetDatabase(editor, call.resource, type == "DeleteAllKeys");
  const auto databases = editor.Parent(call.resource);
  const auto secure_boot = databases ? editor.Parent(*databases) : std::nullopt;
  if (secure_boot && editor.Text(call.resource, "/DatabaseId") == "PK") {
    editor.SetPresent(*secure_boot, "/SecureBootMode",
                      type == "DeleteAllKeys" ? "SetupMode" : "UserMode");
  }
  return Done(editor);
}

}  // namespace

void AddSecureBoot(HandlerTable& handlers) {
  handlers.OnAction("SecureBoot.ResetKeys", &ResetKeys);
  handlers.OnAction("SecureBootDatabase.ResetKeys", &ResetKeysOfDatabase);
  handlers.On(Method::kPatch, "SecureBoot", &PatchSecureBoot);
  handlers.OnBoot(BootStage::kStart, &ApplySecureBoot);
}

}  // namespace shoal::mockserver
