// SPDX-License-Identifier: Apache-2.0
#include "mockserver/access/accounts.h"

#include <absl/strings/ascii.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mockserver/access/access.h"
#include "mockserver/access/credentials.h"
#include "mockserver/access/roles.h"
#include "mockserver/access/sessions.h"
#include "mockserver/messages/etag.h"
#include "mockserver/messages/extended_info.h"
#include "mockserver/resources/members.h"
#include "mockserver/resources/new_object.h"
#include "mockserver/resources/patch.h"
#include "redfish/capture/uri.h"
#include "redfish/schema/schema.h"

namespace shoal::mockserver {
namespace {

constexpr const char* kPassword = "Password";
constexpr const char* kUserName = "UserName";
constexpr const char* kNewestAccountType = "#ManagerAccount.v1_7_0.ManagerAccount";

// Properties that clients can write and no response shows.
constexpr std::array<std::string_view, 3> kWriteOnly = {"/Password", "/SNMP/AuthenticationKey",
                                                        "/SNMP/EncryptionKey"};

bool IsSlot(const Editor& editor, ResourceId account) {
  return !editor.resource(account).methods.remove;
}

bool HasText(const Json& body, const char* name) { return !redfish::TextAt(body, name).empty(); }

bool IsEnabledAdministrator(const Editor& editor, ResourceId account) {
  return editor.Text(account, "/RoleId") == kAdministrator && IsActive(editor, account) &&
         !editor.Text(account, "/UserName").empty();
}

// Returns whether the account is that of `principal` and nobody else is an enabled administrator.
bool IsNeeded(const Editor& editor, ResourceId account, const Principal* principal) {
  const bool is_own = principal != nullptr && principal->account == account;
  const auto collection = editor.Parent(account);
  if (!is_own || !collection || !IsEnabledAdministrator(editor, account)) return false;
  const std::vector<ResourceId> members = editor.Members(*collection);
  return std::none_of(members.begin(), members.end(), [&](ResourceId other) {
    return other != account && IsEnabledAdministrator(editor, other);
  });
}

bool IsUserName(std::string_view name) {
  constexpr std::size_t kMost = 256;
  return name.size() <= kMost && std::none_of(name.begin(), name.end(), [](unsigned char c) {
           return absl::ascii_iscntrl(c) || c == ':';
         });
}

// The rules for a present or new account beyond those of the schema.
class Rules {
 public:
  // `account` is nothing for a new account.
  Rules(const Editor& editor, std::optional<ResourceId> account, const Call& call)
      : editor_(editor), account_(account), body_(call.body), principal_(call.principal) {}

  std::optional<Json> Objection(const std::string& pointer, const Json& value) const {
    const bool is_text = pointer == "/Password" || pointer == "/UserName" || pointer == "/RoleId";
    if (is_text && !value.is_string()) {
      const std::string name = pointer.substr(1);
      return ExtendedInfo("PropertyValueTypeError", {Excerpt(value, name), name}, pointer);
    }
    if (pointer == "/Password") return ToPassword(value);
    if (pointer == "/UserName") return ToUserName(value);
    if (pointer == "/RoleId") return ToRole(value);
    if (pointer == "/Enabled") return ToEnabled(value);
    const bool locks = pointer == "/Locked" && value == Json(true) &&
                       !(account_ && editor_.IsTrue(*account_, pointer));
    if (locks) return ExtendedInfo("PropertyValueNotInList", {"true", "Locked"}, pointer);
    return std::nullopt;
  }

 private:
  std::optional<Json> ToPassword(const Json& value) const {
    const std::string& password = value.get_ref<const std::string&>();
    const auto service = AccountService(editor_);
    const auto limit = [&](const char* pointer) {
      return service ? editor_.Integer(*service, pointer).value_or(0) : 0;
    };
    const auto length = static_cast<std::int64_t>(password.size());
    const std::int64_t most = limit("/MaxPasswordLength");
    if (length < std::max(limit("/MinPasswordLength"), std::int64_t{1}) ||
        (most > 0 && length > most)) {
      return ExtendedInfo("PasswordIncorrectLength", {}, "/Password");
    }
    if (!account_) return std::nullopt;
    if (StaysEmpty()) return Conflict(kPassword);
    const bool is_same = editor_.IsTrue(*account_, "/PasswordChangeRequired") &&
                         HasPassword(editor_, *account_, password);
    if (is_same) return ExtendedInfo("PasswordReuseTooRecent", {}, "/Password");
    return std::nullopt;
  }

  std::optional<Json> ToUserName(const Json& value) const {
    const std::string name = value.get<std::string>();
    const bool empties = name.empty() && account_ && IsSlot(editor_, *account_);
    if (empties) return IfNeeded(true);
    if (name.empty() || !IsUserName(name)) {
      return ExtendedInfo("PropertyValueFormatError", {Excerpt(value, kUserName), kUserName},
                          "/UserName");
    }
    const auto other = FindAccount(editor_, name);
    if (!other || other == account_) return std::nullopt;
    return ExtendedInfo("ResourceAlreadyExists", {"ManagerAccount", kUserName, name}, "/UserName");
  }

  std::optional<Json> ToRole(const Json& value) const {
    const std::string role = value.get<std::string>();
    if (!FindRole(editor_, role)) {
      return ExtendedInfo("PropertyValueNotInList", {Excerpt(value, "RoleId"), "RoleId"},
                          "/RoleId");
    }
    return IfNeeded(role != kAdministrator);
  }

  std::optional<Json> ToEnabled(const Json& value) const {
    if (account_ && value == Json(true) && StaysEmpty()) return Conflict("Enabled");
    return IfNeeded(value == Json(false));
  }

  std::optional<Json> IfNeeded(bool gives_up) const {
    const bool refuses = gives_up && account_ && IsNeeded(editor_, *account_, principal_);
    return refuses ? std::optional(ExtendedInfo("AccountNotModified")) : std::nullopt;
  }

  // Returns whether the account is an empty slot and the request gives it no name.
  bool StaysEmpty() const {
    return IsSlot(editor_, *account_) && editor_.Text(*account_, "/UserName").empty() &&
           !HasText(body_, kUserName);
  }

  static Json Conflict(const char* name) {
    return ExtendedInfo("PropertyValueConflict", {name, kUserName}, '/' + std::string(name));
  }

  const Editor& editor_;
  const std::optional<ResourceId> account_;
  const Json& body_;
  const Principal* const principal_;
};

void LinkRole(Editor& editor, ResourceId account) {
  const auto role = FindRole(editor, editor.Text(account, "/RoleId"));
  if (role) editor.SetPresent(account, "/Links/Role/@odata.id", editor.Uri(*role));
}

// Returns the role that empty slots have.
std::string EmptyRole(const Editor& editor, ResourceId account) {
  const auto collection = editor.Parent(account);
  if (!collection) return {};
  for (const ResourceId slot : editor.Members(*collection)) {
    const Json& captured = *editor.resource(slot).json;
    if (captured.value(kUserName, Json()) == Json("")) return redfish::TextAt(captured, "RoleId");
  }
  return {};
}

void Empty(Editor& editor, ResourceId slot) {
  editor.SetPresent(slot, "/Enabled", false);
  editor.SetPresent(slot, "/RoleId", EmptyRole(editor, slot));
  ClearPassword(editor, slot);
  Unlock(editor, slot);
}

// Applies the consequences of a change of the account, whose user name was `user` before.
void Follow(Editor& editor, ResourceId account, const std::string& user, const Json& body,
            std::optional<std::string> password) {
  const std::string now = editor.Text(account, "/UserName");
  if (user.empty() && !now.empty()) ClearPassword(editor, account);
  if (password) {
    SetPassword(editor, account, *std::move(password));
    const bool asks_again = body.value("PasswordChangeRequired", Json()) == Json(true);
    if (!asks_again) editor.SetPresent(account, "/PasswordChangeRequired", false);
  }
  if (!user.empty() && now.empty()) Empty(editor, account);
  if (body.value("Locked", Json()) == Json(false)) Unlock(editor, account);
  LinkRole(editor, account);
  if (now != user || !IsActive(editor, account)) EndSessionsOf(editor, user, kAccountChanged);
}

// Returns the account as it is now where a PATCH would only report success.
Response Changed(Editor& editor, ResourceId account, Response response) {
  const bool only_tells = response.status == 200 && !response.json->contains("@odata.id");
  if (!only_tells) return response;
  Json body = editor.Read(account);
  body.update(*response.json);
  Response changed = JsonResponse(200, std::move(body));
  changed.etag = editor.ETag(account);
  return changed;
}

Response ChangeAccount(Editor& editor, const Call& call) {
  if (auto refusal = RefuseDisabled(editor, AccountService(editor))) return *std::move(refusal);
  const ResourceId account = call.resource;
  const std::string user = editor.Text(account, "/UserName");
  const Rules rules(editor, account, call);
  std::optional<std::string> password;
  Response response = Patch(
      editor, account, call.body,
      {.objection = [&](const std::string& pointer,
                        const Json& value) { return rules.Objection(pointer, value); },
       .take =
           [&](const std::string& pointer, const Json& value) {
             if (pointer == "/Password") password = value.get<std::string>();
             return std::find(kWriteOnly.begin(), kWriteOnly.end(), pointer) != kWriteOnly.end();
           },
       .follow = [&] { Follow(editor, account, user, call.body, std::move(password)); }});
  return Changed(editor, account, std::move(response));
}

bool IsPasswordOfAsker(Editor& editor, const Call& call, const std::string& password) {
  if (call.principal == nullptr) return HasPassword(editor, call.resource, password);
  return Verify(editor, call.principal->user, password).has_value();
}

Response ChangePassword(Editor& editor, const Call& call) {
  if (auto refusal = RefuseDisabled(editor, AccountService(editor))) return *std::move(refusal);
  if (!IsPasswordOfAsker(editor, call, redfish::TextAt(call.body, "SessionAccountPassword"))) {
    return ErrorResponse(400, "ActionParameterValueError",
                         {"SessionAccountPassword", call.action->name});
  }
  const Json change = {{kPassword, call.body.at("NewPassword")}};
  const Rules rules(editor, call.resource, {call.request, call.resource, nullptr, change});
  if (auto objection = rules.Objection("/Password", change.at(kPassword))) {
    return ErrorResponse(400, {*std::move(objection)});
  }
  const std::string user = editor.Text(call.resource, "/UserName");
  Follow(editor, call.resource, user, change, redfish::TextAt(change, kPassword));
  return Done(editor);
}

std::vector<Json> JudgeNewAccount(const Editor& editor, const std::string& type, const Call& call) {
  std::vector<Json> messages;
  for (const char* name : {kUserName, kPassword, "RoleId"}) {
    if (!call.body.contains(name)) messages.push_back(ExtendedInfo("PropertyMissing", {name}));
  }
  for (Problem& problem : JudgeNewObject(editor.world().schema(), type, "", call.body)) {
    messages.push_back(std::move(problem.info));
  }
  if (!messages.empty()) return messages;
  const Rules rules(editor, std::nullopt, call);
  for (const auto& [name, value] : call.body.items()) {
    auto objection = rules.Objection(redfish::AppendPointer("", name), value);
    if (objection) messages.push_back(*std::move(objection));
  }
  return messages;
}

// Returns whether the last segment of each account's URI is its user name.
bool IsNamedByUser(const Editor& editor, const std::vector<ResourceId>& accounts) {
  return !accounts.empty() &&
         std::all_of(accounts.begin(), accounts.end(), [&](ResourceId account) {
           return editor.Uri(account).ends_with('/' + editor.Text(account, "/UserName"));
         });
}

// Returns the account types of `other` with "Redfish", which a new account has by the schema.
Json AccountTypesLike(const Json& other) {
  Json types = other.value("AccountTypes", Json::array());
  if (!types.is_array()) types = Json::array();
  if (std::find(types.begin(), types.end(), "Redfish") == types.end()) types.push_back("Redfish");
  return types;
}

Json NewAccount(const Editor& editor, const std::vector<ResourceId>& others,
                const std::string& type, const Json& body) {
  Json account = {{"@odata.type", type},
                  {kETagProperty, ""},
                  {"Name", "User Account"},
                  {"Description", "User Account"},
                  {kPassword, nullptr},
                  {"Enabled", true},
                  {"PasswordChangeRequired", false}};
  const Json other = others.empty() ? Json::object() : editor.Read(others.front());
  if (other.contains("Locked")) account["Locked"] = false;
  account["AccountTypes"] = AccountTypesLike(other);
  for (const auto& [name, value] : body.items()) {
    if (name.find('@') == std::string::npos) account[name] = value;
  }
  for (const std::string_view pointer : kWriteOnly) {
    if (redfish::Resolve(account, pointer) != nullptr) redfish::Assign(account, pointer, nullptr);
  }
  const auto role = FindRole(editor, redfish::TextAt(body, "RoleId"));
  if (role) account["Links"]["Role"]["@odata.id"] = editor.Uri(*role);
  std::erase_if(account.get_ref<Json::object_t&>(), [&](const auto& member) {
    return member.first.find('@') == std::string::npos &&
           editor.world().schema().Find(type, redfish::AppendPointer("", member.first)) == nullptr;
  });
  return account;
}

Response MakeAccount(Editor& editor, const Call& call) {
  if (auto refusal = RefuseDisabled(editor, AccountService(editor))) return *std::move(refusal);
  std::string type = MemberType(editor, call.resource);
  if (type.empty()) type = kNewestAccountType;
  std::vector<Json> messages = JudgeNewAccount(editor, type, call);
  if (!messages.empty()) {
    const bool exists =
        messages.size() == 1 &&
        redfish::TextAt(messages.front(), "MessageId").ends_with(".ResourceAlreadyExists");
    return ErrorResponse(exists ? 409 : 400, std::move(messages));
  }
  const std::string user = redfish::TextAt(call.body, kUserName);
  const std::vector<ResourceId> others = editor.Members(call.resource);
  const bool by_user = IsNamedByUser(editor, others);
  if (by_user && !IsSegment(user)) {
    return ErrorResponse(400, "PropertyValueFormatError", {user, kUserName});
  }
  const std::string name = by_user ? user : editor.NewMemberName(call.resource);
  Json account = NewAccount(editor, others, type, call.body);
  account["Id"] = name;
  const ResourceId id = editor.AddMember(call.resource, name, std::move(account));
  SetPassword(editor, id, redfish::TextAt(call.body, kPassword));
  return Created(editor, id);
}

Response RemoveAccount(Editor& editor, const Call& call) {
  if (auto refusal = RefuseDisabled(editor, AccountService(editor))) return *std::move(refusal);
  const ResourceId account = call.resource;
  if (IsNeeded(editor, account, call.principal)) {
    return ErrorResponse(403, "ResourceCannotBeDeleted");
  }
  const std::string user = editor.Text(account, "/UserName");
  editor.RemoveMember(account);
  Unlock(editor, account);
  ClearPassword(editor, account);
  EndSessionsOf(editor, user, kAccountChanged);
  return Done(editor);
}

}  // namespace

void AddAccounts(HandlerTable& handlers) {
  handlers.On(Method::kPost, "ManagerAccountCollection", &MakeAccount);
  handlers.On(Method::kPatch, "ManagerAccount", &ChangeAccount);
  handlers.On(Method::kDelete, "ManagerAccount", &RemoveAccount);
  handlers.OnAction("ManagerAccount.ChangePassword", &ChangePassword);
}

}  // namespace shoal::mockserver
