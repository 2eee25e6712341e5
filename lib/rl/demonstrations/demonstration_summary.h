// SPDX-License-Identifier: Apache-2.0
// A readable summary of a file of demonstrations.
#pragma once

#include <string>

#include "rl/demonstrations/demonstration_file.h"

namespace shoal::demonstrations {

// Returns a line for each goal and capture (episodes, mean length, mutations relative to the
// optimum), then what was left out and why, then totals.
std::string Summarise(const DemonstrationFile& file);

}  // namespace shoal::demonstrations
