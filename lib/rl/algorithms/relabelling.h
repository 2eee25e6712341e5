// SPDX-License-Identifier: Apache-2.0
// Lets unrolls be trained on as if another policy of their family had played them.
//
// Where rewards are split (estimators/exploration_family.h) a row tells the rewards of every
// policy, so each can learn by itself from what all others have met. The observations alone change:
// what is drawn are the policies that they name. This header is for this folder only.
#pragma once

#include <cstdint>

#include "rl/algorithms/step_draws.h"
#include "rl/algorithms/unroll_batch.h"

namespace shoal::algorithms {

// Names one policy of the N `members`, drawn uniformly, in all rows of each column, with the
// probability `share` for a column. REQUIRES: batch.Validate accepted the batch for a spec with
// split_values, whose observations end with N numbers.
void RelabelPolicies(UnrollBatch& batch, std::int64_t members, double share,
                     const StepDraws& draws);

}  // namespace shoal::algorithms
