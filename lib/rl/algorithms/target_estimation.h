// SPDX-License-Identifier: Apache-2.0
// The targets of a batch, made by its algorithm of what the networks of a trainer say of the rows.
//
// This header shows torch and is for this folder only.
#pragma once

#include "rl/algorithms/policy_gradient.h"
#include "rl/algorithms/soft_gradient.h"
#include "rl/algorithms/split_value_gradient.h"
#include "rl/algorithms/step_draws.h"
#include "rl/algorithms/targets.h"
#include "rl/algorithms/training_batch.h"
#include "rl/model/policy_spec.h"

namespace shoal::algorithms {

// The networks that targets are made with. It borrows them.
struct TargetNetworks {
  PolicyGradient& trained;
  // With action values, otherwise null.
  PolicyGradient* target = nullptr;
  // With twin critics, otherwise null.
  SoftGradient* soft = nullptr;
  // With split values, otherwise null.
  const SplitValueGradient* split = nullptr;
  const SplitValueGradient* split_target = nullptr;
};

// Returns the targets of `batch` by its algorithm, without gradients. `draws` are those of the
// coming optimiser step. Throws what torch throws. REQUIRES: `networks` are those that the
// algorithm needs, for policies like `spec`.
Targets EstimateTargets(const TrainingBatch& batch, const TargetNetworks& networks,
                        const model::PolicySpec& spec, const StepDraws& draws);

}  // namespace shoal::algorithms
