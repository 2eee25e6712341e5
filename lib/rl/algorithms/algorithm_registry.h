// SPDX-License-Identifier: Apache-2.0
// The algorithms that there are, by name.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "platform/runtime/status.h"
#include "rl/algorithms/algorithm_options.h"

namespace shoal::algorithms {

class Algorithm;

// In the order in which they are listed to people.
std::vector<std::string_view> AlgorithmNames();

// The algorithm that options.name asks for. INVALID_ARGUMENT for an unknown name, naming those that
// there are, and for counts below 1.
absl::StatusOr<std::unique_ptr<const Algorithm>> MakeAlgorithm(const AlgorithmOptions& options);

}  // namespace shoal::algorithms
