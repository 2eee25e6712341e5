// SPDX-License-Identifier: Apache-2.0
// A peer's JSON as a value that is safe to walk.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

namespace shoal::content {

// Discarded when `text` is no JSON, or nests deeper than kMaximumNesting (nesting.h).
nlohmann::json ParseJson(std::string_view text);

}  // namespace shoal::content
