// SPDX-License-Identifier: Apache-2.0
// The priority in replay with which an unroll of action values begins: how wrong the network was
// that acted, so that new unrolls need not all be trained on once before they can be ranked (Horgan
// et al. 2018, "Distributed Prioritized Experience Replay", section 3). Pure.
#pragma once

#include <cstdint>
#include <span>

#include "rl/estimators/reward_clipping.h"

namespace shoal::inference {

// How the learner will make its targets.
struct PriorityOptions {
  double gamma = 0.99;
  double reward_scale = 1.0;
  estimators::RewardClipping reward_clipping = estimators::RewardClipping::kNone;
  double reward_limit = 1.0;
  std::int64_t n_step = 1;
  // Whether action values are signed-hyperbolic transforms of returns.
  bool transformed = false;
  // The share of the greatest absolute error in a priority; the rest is of the mean.
  double maximum_share = 0.9;
};

// The rows of an unroll of length T.
struct ValuedRows {
  std::span<const float> reward;        // [T]
  std::span<const float> action_value;  // [T], Q(s, a) of the row's action
  std::span<const float> value;         // [T+1], the greatest Q(s, a) of the row
  std::span<const std::uint8_t> flags;  // [T+1], RowFlag as in proto/unroll.proto
};

// Returns the priority, which is above 0. FINAL rows and a TRUNCATED row whose final observation
// was lost do not count. REQUIRES: the sizes above, T >= 1.
double InitialPriority(const ValuedRows& rows, const PriorityOptions& options);

}  // namespace shoal::inference
