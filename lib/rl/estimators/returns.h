// SPDX-License-Identifier: Apache-2.0
// Returns: what the rewards after a step add up to (Sutton and Barto, "Reinforcement Learning",
// 2nd edition, equations 3.8, 7.1 and 12.2).
//
// All follow one recursion, with the value V'_t of the observation that step t led to:
//
//   G_t = r_t + discount_t ((1 - trace_t) V'_t + trace_t G_{t+1})
//
// The ends of episodes lie in discount and trace. A step that terminated its episode has discount
// 0. A step that was truncated keeps its discount and has trace 0, so its return is
// r_t + discount_t V'_t with the value of its final observation. Any trace of lambda in between
// mixes returns of all lengths. These definitions are those of rlax.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "rl/estimators/value_transform.h"

namespace shoal::estimators {

// One sequence of T steps.
struct ReturnSteps {
  std::span<const float> reward;    // [T]
  std::span<const float> discount;  // [T], gamma, or 0 where the step terminated its episode
  // Lambda (1 for plain returns), or 0 where another episode (or nothing) follows. [T]
  std::span<const float> trace;
  // V'_t: the value of the observation that step t led to, which for a truncated step is the final
  // one. Where the values of T + 1 rows are at hand, these are the last T. A double Q target has
  // DoubleQValue (double_q.h) here. [T]
  std::span<const float> next_value;
};

// Returns G_t = r_t + discount_t G_{t+1}, [T], where `tail` takes the place of the return after the
// last step: 0, or the last observation's value. These are the returns of REINFORCE (Williams
// 1992). Nothing here can say that a step was truncated; LambdaReturns can.
// REQUIRES: rewards and discounts are equally many.
std::vector<float> DiscountedReturns(std::span<const float> reward, std::span<const float> discount,
                                     double tail);

// Returns lambda-returns to the end of the sequence, [T]; the last one bootstraps. REQUIRES: the
// sizes above.
std::vector<float> LambdaReturns(const ReturnSteps& steps);

// Returns returns that look `n` steps ahead and then bootstrap, [T]. The last n - 1 of them are
// shorter: they bootstrap at the end of the sequence. Costs O(n T). REQUIRES: the sizes above,
// n >= 1.
std::vector<float> NStepReturns(const ReturnSteps& steps, std::size_t n);

// Returns h(NStepReturns) for a network that predicts h(value): `next_value` is what the network
// predicts, and h^-1 brings it into the units of rewards first (Kapturowski et al. 2019, "R2D2",
// section 2.3). REQUIRES: the sizes above, n >= 1.
std::vector<float> TransformedNStepReturns(const ReturnSteps& steps, std::size_t n,
                                           ValueTransform transform);

}  // namespace shoal::estimators
