// SPDX-License-Identifier: Apache-2.0
// UEFI Secure Boot: what SecureBootEnable asks for is in force from the next boot, and it cannot be
// asked for while the BIOS boots in legacy mode.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "mockserver/service/editor.h"

namespace shoal::mockserver {

// The property that forbids `value` at `pointer` of this resource; nothing when none does.
std::optional<std::string> SecureBootConflict(const Editor& editor, ResourceId id,
                                              std::string_view pointer, const Json& value);

// The system boots: SecureBootCurrentBoot becomes what was asked for.
void ApplySecureBoot(Editor& editor, ResourceId system);

}  // namespace shoal::mockserver
