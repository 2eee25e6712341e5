// SPDX-License-Identifier: Apache-2.0
#include "mockserver/access/roles.h"

#include <absl/strings/ascii.h>

#include <algorithm>
#include <utility>

#include "mockserver/access/access.h"
#include "mockserver/access/credentials.h"
#include "mockserver/messages/extended_info.h"
#include "mockserver/resources/members.h"
#include "mockserver/resources/new_object.h"
#include "mockserver/resources/patch.h"
#include "redfish/capture/uri.h"
#include "redfish/schema/schema.h"

namespace shoal::mockserver {
namespace {

constexpr const char* kRoleId = "RoleId";
constexpr const char* kNewestRoleType = "#Role.v1_3_0.Role";

std::string RoleIdOf(const Editor& editor, ResourceId role) {
  const std::string id = editor.Text(role, "/RoleId");
  return id.empty() ? editor.Text(role, "/Id") : id;
}

std::vector<std::string> PredefinedPrivileges(std::string_view role_id) {
  if (role_id == kAdministrator) {
    return {"Login", "ConfigureManager", "ConfigureUsers", "ConfigureComponents", "ConfigureSelf"};
  }
  if (role_id == "Operator") return {"Login", "ConfigureComponents", "ConfigureSelf"};
  if (role_id == "ReadOnly") return {"Login", "ConfigureSelf"};
  return {};
}

bool IsPredefined(const Editor& editor, ResourceId role) {
  return editor.IsTrue(role, "/IsPredefined") ||
         !PredefinedPrivileges(RoleIdOf(editor, role)).empty();
}

bool IsInUse(const Editor& editor, std::string_view role_id) {
  const auto service = AccountService(editor);
  const auto accounts = service ? editor.Linked(*service, "/Accounts") : std::nullopt;
  if (!accounts) return false;
  const std::vector<ResourceId> members = editor.Members(*accounts);
  return std::any_of(members.begin(), members.end(), [&](ResourceId account) {
    return editor.Text(account, "/RoleId") == role_id;
  });
}

std::vector<Json> JudgeNewRole(const Editor& editor, const std::string& type, const Json& body) {
  std::vector<Json> messages;
  const auto id = body.find(kRoleId);
  if (id == body.end()) {
    messages.push_back(ExtendedInfo("PropertyMissing", {kRoleId}));
  } else if (!id->is_string()) {
    messages.push_back(
        ExtendedInfo("PropertyValueTypeError", {Excerpt(*id, kRoleId), kRoleId}, "/RoleId"));
  } else if (!IsSegment(id->get<std::string>())) {
    messages.push_back(
        ExtendedInfo("PropertyValueFormatError", {Excerpt(*id, kRoleId), kRoleId}, "/RoleId"));
  }
  // RoleId is read-only to the schema, and yet required on create.
  Json others = body;
  others.erase(kRoleId);
  for (Problem& problem : JudgeNewObject(editor.world().schema(), type, "", others)) {
    messages.push_back(std::move(problem.info));
  }
  return messages;
}

Response MakeRole(Editor& editor, const Call& call) {
  if (auto refusal = RefuseDisabled(editor, AccountService(editor))) return *std::move(refusal);
  std::string type = MemberType(editor, call.resource);
  if (type.empty()) type = kNewestRoleType;
  std::vector<Json> messages = JudgeNewRole(editor, type, call.body);
  if (!messages.empty()) return ErrorResponse(400, std::move(messages));
  const std::string id = redfish::TextAt(call.body, kRoleId);
  const bool is_there = FindRole(editor, id) || !PredefinedPrivileges(id).empty() ||
                        editor.Find(editor.Uri(call.resource) + '/' + id);
  if (is_there) return ErrorResponse(409, "ResourceAlreadyExists", {"Role", kRoleId, id});
  Json role = {{"@odata.type", type},           {"Id", id},
               {"Name", "User Role"},           {"Description", "Custom role"},
               {"IsPredefined", false},         {"AssignedPrivileges", Json::array()},
               {"OemPrivileges", Json::array()}};
  for (const auto& [name, value] : call.body.items()) {
    if (name.find('@') == std::string::npos) role[name] = value;
  }
  return Created(editor, editor.AddMember(call.resource, id, std::move(role)));
}

Response ChangeRole(Editor& editor, const Call& call) {
  if (auto refusal = RefuseDisabled(editor, AccountService(editor))) return *std::move(refusal);
  if (IsPredefined(editor, call.resource)) {
    return ErrorResponse(403, "RestrictedRole", {RoleIdOf(editor, call.resource)});
  }
  return Patch(editor, call.resource, call.body);
}

Response RemoveRole(Editor& editor, const Call& call) {
  if (auto refusal = RefuseDisabled(editor, AccountService(editor))) return *std::move(refusal);
  const std::string id = RoleIdOf(editor, call.resource);
  if (IsPredefined(editor, call.resource)) return ErrorResponse(403, "RestrictedRole", {id});
  if (IsInUse(editor, id)) return ErrorResponse(409, "ResourceInUse");
  editor.RemoveMember(call.resource);
  return Done(editor);
}

}  // namespace

void AddRoles(HandlerTable& handlers) {
  handlers.On(Method::kPost, "RoleCollection", &MakeRole);
  handlers.On(Method::kPatch, "Role", &ChangeRole);
  handlers.On(Method::kDelete, "Role", &RemoveRole);
}

std::optional<ResourceId> FindRole(const Editor& editor, std::string_view role_id) {
  const auto service = AccountService(editor);
  const auto roles = service ? editor.Linked(*service, "/Roles") : std::nullopt;
  if (!roles) return std::nullopt;
  for (const ResourceId role : editor.Members(*roles)) {
    if (RoleIdOf(editor, role) == role_id) return role;
  }
  return std::nullopt;
}

std::vector<std::string> PrivilegesOf(const Editor& editor, std::string_view role_id) {
  const auto role = FindRole(editor, role_id);
  const Json* const assigned = role ? editor.Read(*role, "/AssignedPrivileges") : nullptr;
  if (assigned == nullptr || !assigned->is_array()) return PredefinedPrivileges(role_id);
  std::vector<std::string> privileges;
  for (const Json& one : *assigned) {
    if (one.is_string()) privileges.push_back(one.get<std::string>());
  }
  return privileges;
}

bool IsSegment(std::string_view text) {
  constexpr std::size_t kMost = 64;
  const auto is_safe = [](unsigned char c) {
    return absl::ascii_isalnum(c) || c == '-' || c == '_' || c == '.';
  };
  return !text.empty() && text.size() <= kMost && text.front() != '.' &&
         std::all_of(text.begin(), text.end(), is_safe);
}

}  // namespace shoal::mockserver
