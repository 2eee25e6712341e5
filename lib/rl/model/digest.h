// SPDX-License-Identifier: Apache-2.0
// SHA-256 as 64 lower-case hexadecimal digits, which identifies specs, parameters and files.
#pragma once

#include <string>
#include <string_view>

namespace shoal::model {

std::string HexSha256(std::string_view bytes);

}  // namespace shoal::model
