// SPDX-License-Identifier: Apache-2.0
// Behaviour cloning: the loss of imitating an expert's actions.
#pragma once

#include "rl/algorithms/algorithm.h"

namespace shoal::algorithms {

// The loss is the cross-entropy with an expert who is certain, -log_probability, over the legal
// actions. Rows have no targets, and the critic is not trained. It has one metric: the share of
// rows whose most probable action is the expert's.
class BehaviourCloning final : public Algorithm {
 public:
  Requirements requirements() const override { return {}; }
  Targets Estimate(const UnrollBatch& batch, const PolicyView& view) const override;
  PolicyTerms PolicyLoss(const PolicyRows& rows) const override;
  ValueTerms ValueLoss(const ValueRows& rows) const override;
  std::vector<std::string> metric_names() const override { return {"agreement"}; }
};

}  // namespace shoal::algorithms
