// SPDX-License-Identifier: Apache-2.0
// One row's action from its logits: a pure function of the two and the row's draw.
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
  // Returns the similarity of each action to the goal, [n]; asked for kSimilarity alone.
  std::function<std::vector<float>()> similarity;
};

// Sampling inverts the cumulative distribution in the order of the actions. Writes action and
// log_probability of `row`; nothing for kValueOnly. REQUIRES: CheckInputs accepted `inputs`.
void ChooseAction(const RowLogits& logits, const PolicyInputs& inputs, std::int64_t row,
                  PolicyOutputs& outputs);

}  // namespace shoal::model
