// SPDX-License-Identifier: Apache-2.0
// The first priorities of unrolls, by the targets that the learner's algorithm makes.
#pragma once

#include "inference/core/unroll_priority.h"
#include "rl/algorithms/algorithm_options.h"

namespace shoal::inference {

// Returns what inference must know of the section [algorithm]. Pure.
PriorityOptions TargetPriorities(const algorithms::AlgorithmOptions& algorithm);

}  // namespace shoal::inference
