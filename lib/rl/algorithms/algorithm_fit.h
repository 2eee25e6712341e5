// SPDX-License-Identifier: Apache-2.0
// Whether an algorithm can train a policy of a certain form.
#pragma once

#include "platform/runtime/status.h"
#include "rl/algorithms/algorithm.h"
#include "rl/algorithms/algorithm_options.h"
#include "rl/algorithms/requirements.h"
#include "rl/model/policy_spec.h"

namespace shoal::algorithms {

// Returns INVALID_ARGUMENT, which names the knob, where the algorithm, which was made of `options`,
// needs outputs of the network that the policy lacks, or has no use for some that it has.
absl::Status CheckFit(const Algorithm& algorithm, const AlgorithmOptions& options,
                      const model::PolicySpec& spec);

// Returns INVALID_ARGUMENT, which names the knob, for a policy that cannot be cloned from
// demonstrations.
absl::Status CheckClones(const model::PolicySpec& spec);

// Returns INVALID_ARGUMENT, which names the knob, where a rank's gradient of a batch is not all
// that an update needs, so that ranks cannot go on without one another.
absl::Status CheckAsynchronous(const Requirements& requirements, const AlgorithmOptions& options,
                               const model::PolicySpec& spec);

}  // namespace shoal::algorithms
