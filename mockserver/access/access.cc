// SPDX-License-Identifier: Apache-2.0
#include "mockserver/access/access.h"

#include <absl/strings/escaping.h>
#include <absl/strings/match.h>

#include <algorithm>
#include <array>
#include <utility>

#include "mockserver/access/credentials.h"
#include "mockserver/access/roles.h"
#include "mockserver/access/sessions.h"
#include "mockserver/messages/extended_info.h"
#include "redfish/schema/privilege_registry.h"

namespace shoal::mockserver {
namespace {

constexpr std::string_view kBasic = "Basic ";
constexpr const char* kConfigureSelf = "ConfigureSelf";
constexpr std::array<std::string_view, 4> kOpen = {"/redfish", "/redfish/v1", "/redfish/v1/odata",
                                                   "/redfish/v1/$metadata"};

bool IsOpen(const Editor& editor, Method method, std::string_view uri) {
  if (Reads(method)) return std::find(kOpen.begin(), kOpen.end(), uri) != kOpen.end();
  if (method != Method::kPost) return false;
  const auto collection = editor.FindTarget(method, uri);
  return collection && editor.IsA(*collection, "SessionCollection");
}

Principal PrincipalOf(const Editor& editor, Identity identity, std::optional<ResourceId> session) {
  std::vector<std::string> privileges =
      PrivilegesOf(editor, identity.account ? editor.Text(*identity.account, "/RoleId")
                                            : std::string(kAdministrator));
  return {std::move(identity.user), identity.account, session, std::move(privileges)};
}

std::optional<Principal> ByToken(Editor& editor, std::string_view token) {
  auto session = UseSession(editor, token);
  if (!session) return std::nullopt;
  return PrincipalOf(editor, std::move(session->identity), session->id);
}

std::optional<Principal> ByBasic(Editor& editor, std::string_view header) {
  const bool is_basic =
      header.size() > kBasic.size() &&
      absl::StartsWithIgnoreCase({header.data(), header.size()}, {kBasic.data(), kBasic.size()});
  if (!is_basic || BasicAuthentication(editor) == "Disabled") return std::nullopt;
  header.remove_prefix(kBasic.size());
  std::string text;
  if (!absl::Base64Unescape({header.data(), header.size()}, &text)) return std::nullopt;
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) return std::nullopt;
  auto identity = Verify(editor, text.substr(0, colon), text.substr(colon + 1));
  if (!identity) return std::nullopt;
  return PrincipalOf(editor, *std::move(identity), std::nullopt);
}

bool IsOwnAccount(const Principal& principal, ResourceId id) { return principal.account == id; }

bool IsOwnSession(const Editor& editor, const Principal& principal, ResourceId id) {
  return editor.IsA(id, "Session") && editor.Text(id, "/UserName") == principal.user;
}

// Returns whether the resource is the user's own account or session, or is below the account.
bool IsOwn(const Editor& editor, const Principal& principal, ResourceId id) {
  if (IsOwnAccount(principal, id) || IsOwnSession(editor, principal, id)) return true;
  return principal.account && editor.Uri(id).starts_with(editor.Uri(*principal.account) + '/');
}

std::vector<std::string> NamesIn(const Json* body) {
  std::vector<std::string> names;
  if (body == nullptr) return names;
  for (const auto& [name, value] : body->items()) {
    if (name.find('@') == std::string::npos) names.push_back(name);
  }
  return names;
}

// Returns whether a user whose password must be changed may make the request.
bool IsWayOut(const Editor& editor, const Principal& principal, Method method, ResourceId id,
              const std::vector<std::string>& properties) {
  if (IsOwnSession(editor, principal, id)) return Reads(method) || method == Method::kDelete;
  if (!IsOwnAccount(principal, id)) return false;
  return Reads(method) ||
         (method == Method::kPatch && properties == std::vector<std::string>{"Password"});
}

}  // namespace

Admission Admit(Editor& editor, const Request& request, std::string_view uri) {
  const bool is_required = editor.options().authentication == Authentication::kRequired;
  const bool is_open = IsOpen(editor, request.method, uri);
  const bool by_token = !request.auth_token.empty();
  std::optional<Principal> principal;
  if (by_token) {
    principal = ByToken(editor, request.auth_token);
  } else if (is_required && !request.authorization.empty()) {
    principal = ByBasic(editor, request.authorization);
  }
  if (principal || is_open || !is_required) return {std::move(principal), std::nullopt};
  return {std::nullopt, by_token ? Unauthorized(editor, "NoValidSession")
                                 : Unauthorized(editor, "AccessUnauthorized")};
}

std::optional<Response> Forbid(const Editor& editor, const Principal* principal, Method method,
                               ResourceId id, const Json* body, std::string_view action) {
  const bool judges = principal != nullptr &&
                      editor.options().authentication == Authentication::kRequired &&
                      !IsOpen(editor, method, editor.Uri(id));
  if (!judges) return std::nullopt;
  std::vector<std::string> properties;
  if (action == "ManagerAccount.ChangePassword") {
    method = Method::kPatch;
    properties = {"Password"};
  } else if (method == Method::kPatch) {
    properties = NamesIn(body);
  }
  const bool must_change =
      principal->account && editor.IsTrue(*principal->account, "/PasswordChangeRequired");
  if (must_change && !IsWayOut(editor, *principal, method, id, properties)) {
    return ErrorResponse(403, "PasswordChangeRequired", {editor.Uri(*principal->account)});
  }
  std::vector<std::string> granted = principal->privileges;
  if (!IsOwn(editor, *principal, id)) std::erase(granted, kConfigureSelf);
  const std::string entity = redfish::EntityOf(editor.resource(id).odata_type);
  const std::vector<std::string> ancestors =
      redfish::AncestorEntities(editor.Uri(id), [&editor](const std::string& uri) {
        const auto above = editor.Find(uri);
        return above ? &editor.Read(*above) : nullptr;
      });
  const auto& registry = editor.world().options().privileges;
  const bool may = registry != nullptr && registry->Allows({.method = Name(method),
                                                            .entity = entity,
                                                            .ancestors = ancestors,
                                                            .uri = editor.Uri(id),
                                                            .properties = properties},
                                                           granted);
  return may ? std::nullopt : std::optional(ErrorResponse(403, "InsufficientPrivilege"));
}

bool MayShow(const Editor& editor, const Principal* principal, ResourceId id) {
  if (editor.options().authentication == Authentication::kNone) return true;
  return principal != nullptr && !Forbid(editor, principal, Method::kGet, id, nullptr);
}

Response Unauthorized(const Editor& editor, std::string_view message,
                      std::initializer_list<std::string> args) {
  Response response = ErrorResponse(401, message, args);
  const std::string basic = BasicAuthentication(editor);
  if (basic.empty() || basic == "Enabled") {
    response.headers.emplace_back("WWW-Authenticate", "Basic realm=\"Redfish\"");
  }
  return response;
}

std::optional<Response> RefuseDisabled(const Editor& editor, std::optional<ResourceId> service) {
  const Json* const enabled = service ? editor.Read(*service, "/ServiceEnabled") : nullptr;
  if (enabled == nullptr || *enabled != Json(false)) return std::nullopt;
  Response response = ErrorResponse(503, "ServiceDisabled", {editor.Uri(*service)});
  response.headers.emplace_back("Retry-After", "60");
  return response;
}

}  // namespace shoal::mockserver
