// SPDX-License-Identifier: Apache-2.0
// Statistics of a batch over all ranks, and advantages normalised by them.
#pragma once

#include "algorithms/advantages.h"
#include "algorithms/policy_trainer.h"
#include "algorithms/unroll_batch.h"
#include "collectives/gradient_reducer.h"
#include "runtime/status.h"

namespace shoal::algorithms {

// Fills what `report` says of the batch. With `normalise`, advantages leave with mean 0 and
// deviation 1 over all ranks. Two collectives.
absl::Status ReduceStatistics(const UnrollBatch& batch, collectives::GradientReducer& reducer,
                              bool normalise, Advantages& advantages, UpdateReport& report);

}  // namespace shoal::algorithms
