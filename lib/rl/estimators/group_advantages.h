// SPDX-License-Identifier: Apache-2.0
// Group advantages: how much better an episode was than others from the same start (Shao et al.
// 2024, "DeepSeekMath", section 4.1.2, "GRPO").
//
//   A_i = (R_i - mean R) / deviation
//
// R_i is the outcome of a whole episode: its sum of rewards, whether it terminated or was
// truncated. A truncated episode that is to count for what it could still have reached has
// discount_T V(final observation) in R_i, which the caller adds. All steps of episode i share A_i.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace shoal::estimators {

// What differences from the mean are divided by. The paper only says "standard deviation".
enum class GroupDeviation : std::uint8_t {
  // sqrt(mean (R - mean)^2): the deviation of these episodes, which are the whole group. It gives
  // advantages mean square 1 in groups of any size.
  kPopulation,
  // With n - 1 in place of n, as torch.std and therefore TRL and verl compute it.
  kSample,
  // Nothing: differences stay in the units of rewards, so that groups in which nearly all episodes
  // end alike do not count more than others (Liu et al. 2025, "Dr. GRPO").
  kNone,
};

// Returns A_i, [G]. All are 0 where the group says nothing: its outcomes are equal (their deviation
// is at most 1e-6), it has fewer than two, or one of them is not finite.
std::vector<float> GroupAdvantages(std::span<const float> outcome,
                                   GroupDeviation deviation = GroupDeviation::kPopulation);

}  // namespace shoal::estimators
