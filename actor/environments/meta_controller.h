// SPDX-License-Identifier: Apache-2.0
// Chooses which policy of a family plays the next episode of an environment: the meta-controller of
// Agent57 (Badia et al. 2020, section 3.2), a sliding-window UCB bandit (rl/estimators/bandit.h)
// whose arms are the policies and whose rewards are returns of episodes.
//
// A choice is a function of the options, the numbers of environment and episode, and the returns so
// far, which are lost when the actor ends: then all policies are played once more. It costs as many
// steps as the window has episodes. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "rl/estimators/bandit.h"

namespace shoal::actor {

class MetaController {
 public:
  struct Options {
    // N, at least 1.
    std::size_t policies = 1;
    // The last episodes whose returns count, at least 1.
    std::size_t window = 160;
    // The bound of a policy lies this far above its mean return where it played once in the window.
    double width = 1;
    // The probability with which a policy is drawn at random, in [0, 1].
    double epsilon = 0.5;
    std::uint64_t seed = 1;
  };

  explicit MetaController(const Options& options) : options_(options) {}

  // Returns the policy that plays the episode, 0 to N - 1. Policies that no episode of the window
  // was played by come first, in their order.
  std::size_t Choose(std::uint64_t environment, std::uint64_t episode) const;
  // Tells the undiscounted extrinsic return of an episode that has ended. An episode that was lost
  // is not told. REQUIRES: `policy` is below N, and the return is finite.
  void Learn(std::size_t policy, double episode_return);

 private:
  const Options options_;
  // The oldest first.
  std::vector<estimators::Play> window_;
};

}  // namespace shoal::actor
