// SPDX-License-Identifier: Apache-2.0
// How deep a JSON text nests, told before it is parsed: what walks values recursively, as
// CanonicalJson does, must not be led to the end of its stack by a peer.
#pragma once

#include <string_view>

namespace shoal::content {

// The deepest text of a peer that is taken for JSON. Redfish stays far below.
inline constexpr int kMaximumNesting = 64;

// True when `json` opens more than `depth` arrays and objects inside one another. Looks no further
// than there, allocates nothing; of a text that is no JSON the answer means nothing, and a parser
// refuses it.
bool NestsDeeperThan(std::string_view json, int depth);

}  // namespace shoal::content
