// SPDX-License-Identifier: Apache-2.0
// One row's action from its distribution: a pure function of the two and the row's draw.
#pragma once

#include <cstdint>
#include <span>

#include "rl/model/policy.h"

namespace shoal::model {

struct Distribution {
  // [n]; an illegal action's probability is 0.
  std::span<const float> log_probabilities;
  std::span<const float> probabilities;
  // [n], kIllegalLogit where illegal; only read for a row of Choice::kSimilarity.
  std::span<const float> similarity;
};

// Sampling inverts the cumulative distribution in the order of the actions. Writes action and
// log_probability of `row`; nothing for kValueOnly. REQUIRES: CheckInputs accepted `inputs`.
void ChooseAction(const Distribution& distribution, const PolicyInputs& inputs, std::int64_t row,
                  PolicyOutputs& outputs);

}  // namespace shoal::model
