// SPDX-License-Identifier: Apache-2.0
// Chooses one row's action from its logits. It is a pure function of the inputs and the logits.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "rl/model/policy.h"

namespace shoal::model {

struct RowLogits {
  // [n], kIllegalLogit where the action is illegal.
  std::span<const float> logits;
  // Returns the similarity of each action to the goal, [n]. It is called for kSimilarity only.
  std::function<std::vector<float>()> similarity;
};

// Writes the action and the log_probability of `row`; writes nothing for kValueOnly. Sampling
// inverts the cumulative distribution in the order of the actions. REQUIRES: CheckInputs accepted
// `inputs`.
void ChooseAction(const RowLogits& logits, const PolicyInputs& inputs, std::int64_t row,
                  PolicyOutputs& outputs);

}  // namespace shoal::model
