// SPDX-License-Identifier: Apache-2.0
// What DQN and IQN share: they train on unrolls of any policy, and the target of an action value is
// made of the rewards of n steps and the value that the target network states after them.
#pragma once

#include <vector>

#include "rl/algorithms/algorithm.h"
#include "rl/algorithms/algorithm_options.h"

namespace shoal::algorithms {

class QLearning : public ActionValueAlgorithm {
 public:
  explicit QLearning(const AlgorithmOptions& options) : options_(options) {}

  Requirements requirements() const override {
    return {.update_epochs = options_.update_epochs,
            .minibatches = options_.minibatches,
            .off_policy = true};
  }

  bool double_q() const override { return options_.double_q; }
  bool retrace() const override { return options_.retrace; }

  std::vector<float> Estimate(const UnrollBatch& batch,
                              const ActionValueView& view) const override {
    if (!retrace()) return ActionValueTargets(batch, view.value, options_.action_value_targets());
    return RetraceActionValueTargets(batch,
                                     {.preferred_action = view.preferred_action,
                                      .value = view.value,
                                      .recorded_value = view.recorded_value},
                                     options_.lambda, options_.action_value_targets());
  }

 protected:
  const AlgorithmOptions options_;
};

}  // namespace shoal::algorithms
