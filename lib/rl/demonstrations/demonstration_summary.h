// SPDX-License-Identifier: Apache-2.0
// What a file of demonstrations holds, for people.
#pragma once

#include <string>

#include "rl/demonstrations/demonstration_file.h"

namespace shoal::demonstrations {

// A line a goal and capture: episodes, their mean length, mutations an optimum; then what was left
// out and why; then totals.
std::string Summarise(const DemonstrationFile& file);

}  // namespace shoal::demonstrations
