// SPDX-License-Identifier: Apache-2.0
// What a search found as one line of JSON, from the program that searched to the one that asked.
//
// Pure functions. A line is not trusted.
#pragma once

#include <string>
#include <string_view>

#include "placement/trial.h"

namespace shoal::placement {

std::string ToLine(const Found& found);

// The inverse of ToLine. INVALID_ARGUMENT if it is no such line, or its placement is none of the
// simulator's graph.
absl::StatusOr<Found> ParseFound(std::string_view line, Simulator& simulator);

}  // namespace shoal::placement
