// SPDX-License-Identifier: Apache-2.0
#include "mockserver/behaviours/bios_actions.h"

#include <map>
#include <string>
#include <utility>

#include "mockserver/messages/extended_info.h"
#include "mockserver/resources/settings.h"
#include "redfish/capture/uri.h"
#include "redfish/goals/predicate.h"
#include "redfish/schema/attribute_registry.h"

namespace shoal::mockserver {
namespace {

constexpr std::size_t kMaximumBytes = 255;

// The passwords that were set, by BIOS and name.
struct Passwords {
  std::map<std::pair<ResourceId, std::string>, std::string> set;
};

Response ResetBios(Editor& editor, const Call& call) {
  AwaitDefaults(editor, call.resource);
  return Done(editor);
}

bool IsPasswordName(Editor& editor, ResourceId bios, const std::string& name) {
  const redfish::AttributeRegistry* const registry =
      editor.world().FindAttributeRegistry(editor.Text(bios, "/AttributeRegistry"));
  if (registry != nullptr && registry->HasPasswords()) return registry->IsPassword(name);
  const auto& known = editor.Notes<Passwords>().set;
  return !name.empty() && name.size() <= kMaximumBytes &&
         (known.size() < kMaximumPasswords || known.contains({bios, name}));
}

bool MayBecome(Editor& editor, ResourceId bios, const std::string& name,
               const std::string& password) {
  const redfish::AttributeRegistry* const registry =
      editor.world().FindAttributeRegistry(editor.Text(bios, "/AttributeRegistry"));
  if (password.size() > kMaximumBytes) return false;
  return registry == nullptr || !registry->IsPassword(name) ||
         registry->Misfit(name, password, Json::object()) != "PropertyValueFormatError";
}

Response ChangeBiosPassword(Editor& editor, const Call& call) {
  const auto wrong = [&call](const char* parameter) {
    return ErrorResponse(400, "ActionParameterValueError", {parameter, call.action->name});
  };
  for (const char* parameter : {"PasswordName", "OldPassword", "NewPassword"}) {
    const auto value = call.body.find(parameter);
    if (value == call.body.end() || !value->is_string()) return wrong(parameter);
  }
  const ResourceId bios = call.resource;
  const std::string name = redfish::TextAt(call.body, "PasswordName");
  const std::string password = redfish::TextAt(call.body, "NewPassword");
  if (!IsPasswordName(editor, bios, name)) return wrong("PasswordName");
  if (!MayBecome(editor, bios, name, password)) return wrong("NewPassword");
  auto& set = editor.Notes<Passwords>().set;
  const auto present = set.find({bios, name});
  const std::string old = present == set.end() ? std::string() : present->second;
  if (redfish::TextAt(call.body, "OldPassword") != old) return wrong("OldPassword");
  set[{bios, name}] = password;
  editor.Record(redfish::kPasswordRecord, bios,
                {{"PasswordName", name}, {"NewPassword", password}});
  return Done(editor);
}

}  // namespace

bool HasBiosPassword(const Editor& editor, ResourceId bios, std::string_view name,
                     std::string_view password) {
  const auto* const notes = editor.FindNotes<Passwords>();
  if (notes == nullptr) return password.empty();
  const auto found = notes->set.find({bios, std::string(name)});
  return found == notes->set.end() ? password.empty() : found->second == password;
}

void AddBiosActions(HandlerTable& handlers) {
  handlers.OnAction("Bios.ResetBios", &ResetBios);
  handlers.OnAction("Bios.ChangePassword", &ChangeBiosPassword);
}

}  // namespace shoal::mockserver
