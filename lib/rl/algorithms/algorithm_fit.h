// SPDX-License-Identifier: Apache-2.0
// Whether an algorithm can train a policy of a certain form.
#pragma once

#include "platform/runtime/status.h"
#include "rl/algorithms/algorithm.h"
#include "rl/algorithms/algorithm_options.h"
#include "rl/model/policy_spec.h"

namespace shoal::algorithms {

// Returns INVALID_ARGUMENT, which names the knob, where the algorithm, which was made of `options`,
// needs outputs of the network that the policy lacks, or has no use for some that it has.
absl::Status CheckFit(const Algorithm& algorithm, const AlgorithmOptions& options,
                      const model::PolicySpec& spec);

}  // namespace shoal::algorithms
