// SPDX-License-Identifier: Apache-2.0
// How often training rows with action values take an action at random. Pure.
//
// Without a ladder every environment has the same epsilon, which falls linearly from `start` to
// `end` over the first `steps` environment steps of the run. With a ladder environment i of N has
// base^(1 + alpha i / (N - 1)) from the beginning on, where N is `ladder` (Horgan et al. 2018,
// "Distributed Prioritized Experience Replay", section 4.1).
#pragma once

#include <algorithm>
#include <cstdint>

#include "rl/estimators/epsilon_ladder.h"

namespace shoal::inference {

struct Exploration {
  double start = 1.0;
  double end = 0.05;
  double steps = 10000;
  // N; 0 for no ladder.
  std::uint64_t ladder = 0;
  double ladder_base = 0.4;
  double ladder_alpha = 7;

  // Returns the probability, in [0, 1], with which the environment's next action is random.
  // `environment_steps` are those of the run so far.
  double Epsilon(std::uint64_t environment, double environment_steps) const {
    if (ladder > 0) {
      return estimators::LadderEpsilon(environment % ladder, ladder,
                                       {.base = ladder_base, .exponent = ladder_alpha});
    }
    const double progress = std::clamp(environment_steps / steps, 0.0, 1.0);
    return start + (end - start) * progress;
  }
};

}  // namespace shoal::inference
