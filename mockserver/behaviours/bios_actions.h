// SPDX-License-Identifier: Apache-2.0
// The actions of a BIOS: Bios.ResetBios and Bios.ChangePassword (DSP0268, Bios).
//
// ResetBios gives all attributes their defaults at the system's next boot (settings.h). Pending
// attributes are applied after the defaults, in whichever order the client asked for the two. A
// predicate expresses "defaults except A and B" by one "equals" for each attribute.
//
// ChangePassword takes effect at once. The names of passwords are those of the attribute registry;
// a service whose registry has none accepts any names, up to kMaximumPasswords of them. At first no
// password is set, and OldPassword is "". A wrong old password, an unknown name, or a new password
// that the registry forbids is 400 ActionParameterValueError, which does not repeat the password. A
// change is recorded as "password" of the BIOS with {"PasswordName", "NewPassword"}, so that a
// predicate can test the present password: {"happened": {"kind": "password", "detail":
// {"PasswordName": P, "NewPassword": X}}}.
#pragma once

#include <cstddef>

#include "mockserver/service/handler.h"

namespace shoal::mockserver {

inline constexpr std::size_t kMaximumPasswords = 16;

void AddBiosActions(HandlerTable& handlers);

// Returns whether `password` is the present password of the BIOS under `name`. It is "" while none
// was set.
bool HasBiosPassword(const Editor& editor, ResourceId bios, std::string_view name,
                     std::string_view password);

}  // namespace shoal::mockserver
