// SPDX-License-Identifier: Apache-2.0
// Chooses the pair of each training episode: pairs that fail get more episodes than pairs that are
// learned, and pairs with long episodes fewer than pairs with short ones.
//
// The success of a pair and the length of its episodes are running means over its last episodes
// whose goal did not hold at their start. Its need falls from 1, when the pair always fails or was
// never played, to `learned_weight`, when it always succeeds. Its weight is its need over the
// square root of the length: with need alone, a few long pairs that fail would take most of the
// steps, and with need over length, they would get too few episodes to be learned. A sample is a
// function of (seed, environment, episode) and of what was noted before. Not thread-safe.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace shoal::actor {

class PairSampler {
 public:
  // REQUIRES: pairs >= 1, learned_weight in (0, 1].
  PairSampler(std::size_t pairs, double learned_weight, std::uint64_t seed)
      : learned_weight_(learned_weight),
        seed_(seed),
        success_(pairs, 0.0),
        steps_(pairs, 1.0),
        excluded_(pairs, false) {}

  std::size_t Sample(std::uint64_t environment, std::uint64_t episode) const;
  // Notes an episode of `steps` requests.
  void Note(std::size_t pair, bool success, int steps);
  // The pair is never sampled again. REQUIRES: others are left.
  void Exclude(std::size_t pair) { excluded_[pair] = true; }

  double weight(std::size_t pair) const {
    if (excluded_[pair]) return 0;
    const double need = learned_weight_ + (1.0 - learned_weight_) * (1.0 - success_[pair]);
    return need / std::sqrt(steps_[pair]);
  }

 private:
  const double learned_weight_;
  const std::uint64_t seed_;
  std::vector<double> success_;
  // At least 1.
  std::vector<double> steps_;
  std::vector<bool> excluded_;
};

}  // namespace shoal::actor
