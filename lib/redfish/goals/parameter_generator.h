// SPDX-License-Identifier: Apache-2.0
// The generators of a goal's parameters: fresh values such as an asset tag or the name of a user.
#pragma once

#include <string>
#include <string_view>

#include "platform/runtime/random.h"

namespace shoal::redfish {

// Returns whether DrawParameter has this generator.
bool IsGenerator(std::string_view generator);
// Draws a fresh value: "tag" an asset tag, "host" a host name or address, "user" a user name,
// "password", "url", "version" a firmware's version.
std::string DrawParameter(std::string_view generator, runtime::Random& random);

}  // namespace shoal::redfish
