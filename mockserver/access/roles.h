// SPDX-License-Identifier: Apache-2.0
// Roles (DSP0266, "Roles"). Predefined roles do not change; a client's own roles are created by
// POST, changed by PATCH and removed by DELETE.
//
// POST: 201; 400 for a RoleId that is missing or cannot be a URI segment, 409 for one that exists.
// PATCH and DELETE of a predefined role: 403 RestrictedRole. DELETE of a role that an account has:
// 409.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mockserver/service/handler.h"

namespace shoal::mockserver {

inline constexpr std::string_view kAdministrator = "Administrator";

void AddRoles(HandlerTable& handlers);

std::optional<ResourceId> FindRole(const Editor& editor, std::string_view role_id);
// Returns the privileges of users in the role. The standard's predefined roles have theirs even
// where a service lacks the role; any other role that it lacks has none.
std::vector<std::string> PrivilegesOf(const Editor& editor, std::string_view role_id);

// Returns whether `text` may be the last segment of a URI without being escaped.
bool IsSegment(std::string_view text);

}  // namespace shoal::mockserver
