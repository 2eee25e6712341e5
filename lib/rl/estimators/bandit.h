// SPDX-License-Identifier: Apache-2.0
// A bandit over arms whose rewards change: sliding-window UCB (Garivier and Moulines 2008; as the
// meta-controller of Badia et al. 2020, "Agent57", section 3.2). Agent57 lets it choose which
// policy of its family plays the next episode, rewarded with the episode's undiscounted extrinsic
// return. An episode that was truncated has the return that it reached: whoever rewards an arm with
// less than that would teach it to avoid long episodes.
//
// The functions are pure. The caller keeps the window: the last plays, oldest dropped first.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "platform/runtime/random.h"

namespace shoal::estimators {

struct Play {
  std::size_t arm = 0;
  double reward = 0;
};

// Returns for each arm the mean of its rewards in the window plus width sqrt(1 / count); plus
// infinity for an arm without plays in it. REQUIRES: each play's arm is below `arms`.
std::vector<double> UpperBounds(std::span<const Play> window, std::size_t arms, double width = 1);

// Returns the arm to play next: one without plays, the first of them, if there is any; otherwise,
// with probability `epsilon`, any arm; otherwise the arm with the greatest upper bound, of equals
// the first. So the first plays go through all arms in their order. It draws from `random` only
// where no arm is without plays. REQUIRES: at least one bound.
std::size_t ChooseArm(std::span<const double> upper_bound, double epsilon, runtime::Random& random);

}  // namespace shoal::estimators
