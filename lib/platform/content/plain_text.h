// SPDX-License-Identifier: Apache-2.0
// Whether a text stands for itself between the quotes of a JSON string, told eight bytes at a time.
#pragma once

#include <string_view>

namespace shoal::content {

// No control character, quote, backslash or byte beyond ASCII in it.
bool IsPlain(std::string_view text);

}  // namespace shoal::content
