// SPDX-License-Identifier: Apache-2.0
// Chooses where training episodes start: in pairs and situations that fail more often than in those
// that are learned, and in those with long episodes less often than in those with short ones.
//
// The success in a situation and the length of its episodes are running means over its last
// episodes. Its need falls from 1, when they always fail or none was played, to `learned_weight`,
// when they always succeed. Its weight is its need over the square root of the length: with need
// alone, a few long ones that fail would take most of the steps, and with need over length, they
// would get too few episodes to be learned. A pair's weight is the mean of its situations' weights
// by their shares. Within the pair, situations that have something to do are drawn by share times
// weight, and the satisfied ones keep their share, as nothing can fail in them. This is Prioritized
// Level Replay (Jiang et al. 2021) with failures as the measure of what is left to learn.
//
// A sample is a function of (seed, environment, episode) and of what was noted before. Not
// thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "actor/environments/environment.h"

namespace shoal::actor {

class StartSampler {
 public:
  struct Start {
    // Indices into the pairs and into the pair's situations; no situation where the pair has none.
    std::size_t pair = 0;
    std::optional<std::size_t> situation = std::nullopt;
  };

  // REQUIRES: at least one pair, learned_weight in (0, 1].
  StartSampler(const std::vector<Pair>& pairs, double learned_weight, std::uint64_t seed);

  Start Sample(std::uint64_t environment, std::uint64_t episode) const;
  // Notes an episode of `steps` requests, which began with something to do.
  void Note(const Start& start, bool success, int steps);
  // The pair is never sampled again. REQUIRES: others are left.
  void Exclude(std::size_t pair) { pairs_[pair].excluded = true; }

  double weight(std::size_t pair) const;

 private:
  // The starts of a pair without situations are one kind.
  struct Kind {
    double share = 1.0;
    bool satisfied = false;
    double success = 0.0;
    // At least 1.
    double steps = 1.0;
  };
  struct Kinds {
    std::vector<Kind> kinds;
    bool are_situations = false;
    bool excluded = false;
  };

  double WeightOf(const Kind& kind) const;

  const double learned_weight_;
  const std::uint64_t seed_;
  std::vector<Kinds> pairs_;
};

}  // namespace shoal::actor
