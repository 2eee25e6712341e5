// SPDX-License-Identifier: Apache-2.0
// Who asks, and whether they may (DSP0266, "Authentication", "Authorization").
//
// A request names its user by X-Auth-Token, the token of a session, or else by HTTP Basic (RFC
// 7617). Open to everybody are GET of /redfish, /redfish/v1, /redfish/v1/odata and
// /redfish/v1/$metadata, and POST to a session collection; whatever else is asked without valid
// credentials is 401, before anything is said about it. What a user may do is what the privileges
// of the account's role allow by the world's privilege registry; ConfigureSelf goes for the user's
// own account and sessions. A user whose password must be changed may only see their account and
// session, log out and change it.
//
// With Authentication::kNone nobody is refused: a valid token tells who asks, an unknown one and
// HTTP Basic say nothing.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mockserver/messages/message.h"
#include "mockserver/service/editor.h"

namespace shoal::mockserver {

// Written by Instance for each change that a known user made. uri: the resource; detail:
// {"UserName": "root", "Method": "PATCH", "Authentication": "Session" or "Basic"}.
inline constexpr std::string_view kChangeRecord = "change";

struct Principal {
  std::string user;
  // None: the administrator that a capture without one has beside the tree.
  std::optional<ResourceId> account;
  // None: by HTTP Basic.
  std::optional<ResourceId> session;
  std::vector<std::string> privileges;
};

struct Admission {
  // None on refusal, and where nobody needs to say and nobody did.
  std::optional<Principal> principal;
  // 401.
  std::optional<Response> refusal;
};

// Who asks. `uri` is canonical. Wrong passwords count (credentials.h).
Admission Admit(Editor& editor, const Request& request, std::string_view uri);

// 403 for what `principal` may not do to the resource; nothing when they may, or when `principal`
// is null. `body` is null when the request has none, or none that can be read. `action` is the name
// of the built-in action that is called, if one is: ManagerAccount.ChangePassword is judged as the
// PATCH of Password that it stands for.
std::optional<Response> Forbid(const Editor& editor, const Principal* principal, Method method,
                               ResourceId id, const Json* body, std::string_view action = {});

// Whether the resource may be shown within the answer to another one's GET.
bool MayShow(const Editor& editor, const Principal* principal, ResourceId id);

// 401, with WWW-Authenticate unless AccountService.HTTPBasicAuth says otherwise.
Response Unauthorized(const Editor& editor, std::string_view message,
                      std::initializer_list<std::string> args = {});

// 503 when `service`, an AccountService or SessionService, is there and not enabled.
std::optional<Response> RefuseDisabled(const Editor& editor, std::optional<ResourceId> service);

}  // namespace shoal::mockserver
