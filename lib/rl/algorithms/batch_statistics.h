// SPDX-License-Identifier: Apache-2.0
// Computes statistics of a batch over all ranks, and normalises advantages with them.
#pragma once

#include <span>

#include "platform/runtime/status.h"
#include "rl/algorithms/policy_trainer.h"
#include "rl/algorithms/targets.h"
#include "rl/algorithms/unroll_batch.h"
#include "rl/collectives/gradient_reducer.h"

namespace shoal::algorithms {

// Fills the fields of `report` that describe the batch. With `normalise`, the advantages get mean 0
// and standard deviation 1 over all ranks. `weight` is [T * B]. Makes two collective calls.
absl::Status ReduceStatistics(const UnrollBatch& batch, collectives::GradientReducer& reducer,
                              bool normalise, std::span<const float> weight, Targets& targets,
                              UpdateReport& report);

}  // namespace shoal::algorithms
