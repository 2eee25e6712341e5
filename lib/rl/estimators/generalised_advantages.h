// SPDX-License-Identifier: Apache-2.0
// Generalised advantage estimation (Schulman et al. 2016, equation 16, as a recursion):
//
//   A_t = r_t + discount_t V(s_{t+1}) - V(s_t) + discount_t trace_t A_{t+1}
//
// The ends of episodes lie in discount and trace. A step that terminated its episode has discount
// 0. A step that was truncated keeps its discount, so that it bootstraps from the value of the
// final observation, which is the next row; its trace is 0, so that nothing behind that row
// reaches it.
#pragma once

#include <span>
#include <vector>

namespace shoal::estimators {

// One sequence of T steps.
struct AdvantageSteps {
  std::span<const float> reward;    // [T]
  std::span<const float> value;     // [T+1]
  std::span<const float> discount;  // [T], gamma, or 0 where the step terminated its episode
  // Lambda, or 0 where another episode (or nothing) follows. [T]
  std::span<const float> trace;
};

// Returns A_t, [T]. If every trace is 1, A_t + V(s_t) is the discounted return with the last value
// as its tail. REQUIRES: the sizes above.
std::vector<float> GeneralisedAdvantages(const AdvantageSteps& steps);

}  // namespace shoal::estimators
