// SPDX-License-Identifier: Apache-2.0
// Roles (DSP0266, "Roles"): predefined ones stay as they are, a client's own come by POST, change
// by PATCH and go by DELETE.
//
// POST: 201; 400 for a RoleId that is missing or no name for a URI, 409 for one that is there.
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
// What users of the role may do; the standard's predefined roles are known where a service lacks
// them, another that it lacks has no privileges.
std::vector<std::string> PrivilegesOf(const Editor& editor, std::string_view role_id);

// Whether `text` may be the last segment of a URI without being escaped.
bool IsSegment(std::string_view text);

}  // namespace shoal::mockserver
