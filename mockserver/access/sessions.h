// SPDX-License-Identifier: Apache-2.0
// Sessions (DSP0266, "Redfish session login authentication"): POST to the collection logs in,
// DELETE logs out.
//
// Login: 201 with Location, X-Auth-Token and the session; 400 for members that are missing or not
// text; 401 for wrong credentials; 503 where SessionService or AccountService is disabled, or past
// InstanceOptions::max_sessions. A token is 128 random bits in hexadecimal. A session ends
// SessionTimeout after its last use, after AbsoluteSessionTimeout where that is enabled, by DELETE,
// and when its user is renamed, removed, disabled or locked. Captured sessions have no token and
// never expire.
//
// History: "login" (credentials.h) has the uri of the account (for the administrator beside the
// tree, of the session) and the detail {"UserName", "PasswordChangeRequired", "Session": uri}.
// "logout" has the uri of the session and the detail {"UserName", "Reason": "Deleted", "Expired" or
// "AccountChanged"}.
#pragma once

#include <optional>
#include <string_view>

#include "mockserver/access/credentials.h"
#include "mockserver/service/handler.h"

namespace shoal::mockserver {

inline constexpr std::string_view kLoginRecord = "login";
inline constexpr std::string_view kLogoutRecord = "logout";
inline constexpr std::string_view kAccountChanged = "AccountChanged";

struct LiveSession {
  ResourceId id = 0;
  Identity identity;
};

void AddSessions(HandlerTable& handlers);

// Returns the session of `token` and restarts its idle time. Returns nothing when there is no such
// session or it has ended.
std::optional<LiveSession> UseSession(Editor& editor, std::string_view token);

// Ends all sessions of a user, captured ones included. `reason` is that of the history.
void EndSessionsOf(Editor& editor, std::string_view user, std::string_view reason);

}  // namespace shoal::mockserver
