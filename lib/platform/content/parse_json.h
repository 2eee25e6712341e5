// SPDX-License-Identifier: Apache-2.0
// Parses a peer's JSON into a value that is safe to walk recursively.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

namespace shoal::content {

// Returns a discarded value when `text` is no JSON, or nests deeper than kMaximumNesting
// (nesting.h).
nlohmann::json ParseJson(std::string_view text);

}  // namespace shoal::content
