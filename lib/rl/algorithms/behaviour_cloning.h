// SPDX-License-Identifier: Apache-2.0
// Behaviour cloning: the loss of imitating an expert's actions.
#pragma once

#include "rl/algorithms/algorithm.h"

namespace shoal::algorithms {

// The loss is the cross-entropy with an expert who is certain, -log_probability, over the legal
// actions. The critic's target is the expert's discounted return. It has one metric: the share of
// rows whose most probable action is the expert's.
class BehaviourCloning final : public PolicyAlgorithm {
 public:
  // The critic's squared error counts `value_coefficient` times; with 0 the critic is not trained.
  BehaviourCloning(const TargetOptions& targets, double value_coefficient)
      : targets_{.gamma = targets.gamma, .lambda = 1, .reward_scale = targets.reward_scale},
        value_coefficient_(value_coefficient) {}

  Requirements requirements() const override { return {}; }
  Targets Estimate(const UnrollBatch& batch, const PolicyView& view) const override;
  PolicyTerms PolicyLoss(const PolicyRows& rows) const override;
  ValueTerms ValueLoss(const ValueRows& rows) const override;
  std::vector<std::string> metric_names() const override { return {"agreement"}; }

 private:
  const TargetOptions targets_;
  const double value_coefficient_;
};

}  // namespace shoal::algorithms
