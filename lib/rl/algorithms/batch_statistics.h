// SPDX-License-Identifier: Apache-2.0
// Statistics of a batch over all ranks, and advantages normalised by them.
#pragma once

#include <span>

#include "platform/runtime/status.h"
#include "rl/algorithms/policy_trainer.h"
#include "rl/algorithms/targets.h"
#include "rl/algorithms/unroll_batch.h"
#include "rl/collectives/gradient_reducer.h"

namespace shoal::algorithms {

// Fills what `report` says about the batch. With `normalise`, advantages leave with mean 0 and
// deviation 1 over all ranks. `weight` [T * B]. Two collectives.
absl::Status ReduceStatistics(const UnrollBatch& batch, collectives::GradientReducer& reducer,
                              bool normalise, std::span<const float> weight, Targets& targets,
                              UpdateReport& report);

}  // namespace shoal::algorithms
