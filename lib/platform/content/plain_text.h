// SPDX-License-Identifier: Apache-2.0
// Checks, eight bytes at a time, whether a text needs no escapes in a JSON string.
#pragma once

#include <string_view>

namespace shoal::content {

// Returns whether `text` has no control character, quote, backslash or byte beyond ASCII.
bool IsPlain(std::string_view text);

}  // namespace shoal::content
