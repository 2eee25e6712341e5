// SPDX-License-Identifier: Apache-2.0
#include "actor/loop/pair_sampler.h"

#include <algorithm>

#include "platform/runtime/random.h"

namespace shoal::actor {
namespace {

// The weight of one episode in the running mean, which thus covers about twenty.
constexpr double kRate = 0.05;

}  // namespace

std::size_t PairSampler::Sample(std::uint64_t environment, std::uint64_t episode) const {
  double total = 0;
  for (std::size_t pair = 0; pair < success_.size(); ++pair) total += weight(pair);
  double at = runtime::UniformAt(seed_, environment, episode, 0) * total;
  std::size_t last = 0;
  for (std::size_t pair = 0; pair < success_.size(); ++pair) {
    if (excluded_[pair]) continue;
    last = pair;
    at -= weight(pair);
    if (at < 0) break;
  }
  return last;
}

void PairSampler::Note(std::size_t pair, bool success, int steps) {
  success_[pair] += kRate * ((success ? 1.0 : 0.0) - success_[pair]);
  steps_[pair] += kRate * (std::max(1, steps) - steps_[pair]);
}

}  // namespace shoal::actor
