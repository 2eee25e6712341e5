// SPDX-License-Identifier: Apache-2.0
// Authentication and authorisation of requests (DSP0266, "Authentication", "Authorization").
//
// A request names its user by X-Auth-Token, the token of a session, or else by HTTP Basic (RFC
// 7617). Everybody may GET /redfish, /redfish/v1, /redfish/v1/odata and /redfish/v1/$metadata, and
// POST to a session collection. Every other request without valid credentials is 401, before the
// answer tells anything about its target. A user may do what the privileges of the account's role
// allow by the world's privilege registry; ConfigureSelf applies to the user's own account and
// sessions. A user whose password must be changed may only see their account and session, log out,
// and change the password.
//
// With Authentication::kNone nobody is refused: a valid token identifies the user, while an unknown
// token and HTTP Basic are ignored.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mockserver/messages/message.h"
#include "mockserver/service/editor.h"

namespace shoal::mockserver {

// The kind of the record that Instance writes for each change by a known user. Its uri is the
// resource; its detail is {"UserName": "root", "Method": "PATCH", "Authentication": "Session" or
// "Basic"}.
inline constexpr std::string_view kChangeRecord = "change";

struct Principal {
  std::string user;
  // Nothing for the administrator that a capture without an administrator has beside the tree.
  std::optional<ResourceId> account;
  // Nothing when the user authenticated by HTTP Basic.
  std::optional<ResourceId> session;
  std::vector<std::string> privileges;
};

struct Admission {
  // Nothing when the request is refused, and when it needs no user and names none.
  std::optional<Principal> principal;
  // A 401.
  std::optional<Response> refusal;
};

// Identifies the user of a request. Wrong passwords are counted (credentials.h). REQUIRES: `uri` is
// canonical.
Admission Admit(Editor& editor, const Request& request, std::string_view uri);

// Returns 403 when `principal` may not do `method` to the resource, and nothing when they may or
// when `principal` is null. `body` is null when the request has no body or an unreadable one.
// `action` is the name of the built-in action that is called, if any: ManagerAccount.ChangePassword
// is judged as a PATCH of Password.
std::optional<Response> Forbid(const Editor& editor, const Principal* principal, Method method,
                               ResourceId id, const Json* body, std::string_view action = {});

// Returns whether the resource may appear in the answer to a GET of another resource.
bool MayShow(const Editor& editor, const Principal* principal, ResourceId id);

// Returns 401, with WWW-Authenticate unless AccountService.HTTPBasicAuth says otherwise.
Response Unauthorized(const Editor& editor, std::string_view message,
                      std::initializer_list<std::string> args = {});

// Returns 503 when `service`, an AccountService or SessionService, exists and is disabled.
std::optional<Response> RefuseDisabled(const Editor& editor, std::optional<ResourceId> service);

}  // namespace shoal::mockserver
