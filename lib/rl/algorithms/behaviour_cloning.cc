// SPDX-License-Identifier: Apache-2.0
#include "rl/algorithms/behaviour_cloning.h"

#include <ATen/ops/full_like.h>
#include <ATen/ops/zeros_like.h>

#include "rl/algorithms/policy_loss.h"

namespace shoal::algorithms {

Targets BehaviourCloning::Estimate(const UnrollBatch& batch, const PolicyView&) const {
  return GeneralisedTargets(batch, BehaviourView(batch), targets_);
}

PolicyTerms BehaviourCloning::PolicyLoss(const PolicyRows& rows) const {
  return {.loss = rows.log_probability.neg(),
          .by_log_probability = at::full_like(rows.log_probability, -1),
          .by_entropy = at::zeros_like(rows.entropy),
          .metrics = {rows.greedy}};
}

ValueTerms BehaviourCloning::ValueLoss(const ValueRows& rows) const {
  return SquaredLoss(rows, value_coefficient_, /*clip=*/0);
}

}  // namespace shoal::algorithms
