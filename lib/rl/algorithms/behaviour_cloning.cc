// SPDX-License-Identifier: Apache-2.0
#include "rl/algorithms/behaviour_cloning.h"

#include <ATen/ops/full_like.h>
#include <ATen/ops/zeros_like.h>

namespace shoal::algorithms {

Targets BehaviourCloning::Estimate(const UnrollBatch& batch, const PolicyView&) const {
  const auto rows = static_cast<std::size_t>(batch.length * batch.columns);
  return {std::vector<float>(rows), std::vector<float>(rows)};
}

PolicyTerms BehaviourCloning::PolicyLoss(const PolicyRows& rows) const {
  return {.loss = rows.log_probability.neg(),
          .by_log_probability = at::full_like(rows.log_probability, -1),
          .by_entropy = at::zeros_like(rows.entropy),
          .metrics = {rows.greedy}};
}

ValueTerms BehaviourCloning::ValueLoss(const ValueRows& rows) const {
  return {.loss = at::zeros_like(rows.value), .by_value = at::zeros_like(rows.value)};
}

}  // namespace shoal::algorithms
