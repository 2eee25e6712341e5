// SPDX-License-Identifier: Apache-2.0
// Measures how deep a JSON text nests before it is parsed. Code that walks values recursively, such
// as CanonicalJson, must not let a peer exhaust its stack.
#pragma once

#include <string_view>

namespace shoal::content {

// The deepest nesting that is accepted in a peer's JSON. Redfish stays far below.
inline constexpr int kMaximumNesting = 64;

// Returns whether `json` opens more than `depth` arrays and objects inside one another. It stops
// reading at the first one too deep and allocates nothing. For a text that is no JSON the answer
// has no meaning; a parser refuses such a text.
bool NestsDeeperThan(std::string_view json, int depth);

}  // namespace shoal::content
