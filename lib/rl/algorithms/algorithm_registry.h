// SPDX-License-Identifier: Apache-2.0
// The known algorithms, by name.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "platform/runtime/status.h"
#include "rl/algorithms/algorithm_options.h"

namespace shoal::algorithms {

class Algorithm;

// Returns the names in the order for display.
std::vector<std::string_view> AlgorithmNames();

// Returns the algorithm that options.name selects. INVALID_ARGUMENT for an unknown name, listing
// the known ones, and for counts below 1.
absl::StatusOr<std::unique_ptr<const Algorithm>> MakeAlgorithm(const AlgorithmOptions& options);

}  // namespace shoal::algorithms
