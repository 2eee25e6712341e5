// SPDX-License-Identifier: Apache-2.0
// Actions of a BIOS: Bios.ResetBios and Bios.ChangePassword (DSP0268, Bios).
//
// ResetBios gives all attributes their defaults at the system's next boot (settings.h); attributes
// that are pending then are applied after, whichever came first. "Defaults except A and B" is one
// "equals" for each attribute.
//
// ChangePassword is in force at once. The names of passwords are those of the attribute registry;
// a service without any takes kMaximumPasswords of whatever names. At first no password is set:
// OldPassword is "". A wrong one, a name that is none, or a new password that the registry forbids
// is 400 ActionParameterValueError, which does not repeat it. A change is recorded as "password" of
// the BIOS with {"PasswordName", "NewPassword"}, so that a predicate can tell the one in force:
// {"happened": {"kind": "password", "detail": {"PasswordName": P, "NewPassword": X}}}.
#pragma once

#include <cstddef>

#include "mockserver/service/handler.h"

namespace shoal::mockserver {

inline constexpr std::size_t kMaximumPasswords = 16;

void AddBiosActions(HandlerTable& handlers);

// Whether `password` is in force for the BIOS under `name`; "" where none was set.
bool HasBiosPassword(const Editor& editor, ResourceId bios, std::string_view name,
                     std::string_view password);

}  // namespace shoal::mockserver
