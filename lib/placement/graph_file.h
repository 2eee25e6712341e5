// SPDX-License-Identifier: Apache-2.0
// Graphs as JSON files; docs/placement.md describes the format for people who write their own.
//
// Thread-safe. Files are not trusted: whatever they hold, the answer is a graph for which
// TopologicalOrder succeeds, or one error.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "placement/graph.h"

namespace shoal::placement {

// INVALID_ARGUMENT naming the operation and the member that is missing or wrong.
absl::StatusOr<Graph> ParseGraph(std::string_view text);

// What decides which operations are one group: what the file says and, where it does not, names; or
// colocation.h alone.
enum class Grouping : std::uint8_t { kName, kColocation };

// Reads the file `path` of at most 1 GiB. Errors name it; NOT_FOUND when it is missing.
absl::StatusOr<Graph> LoadGraph(const std::string& path, Grouping grouping = Grouping::kName);

}  // namespace shoal::placement
