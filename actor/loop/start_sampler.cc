// SPDX-License-Identifier: Apache-2.0
#include "actor/loop/start_sampler.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "platform/runtime/random.h"
#include "platform/runtime/weighted_index.h"

namespace shoal::actor {
namespace {

// The weight of one episode in the running mean, which thus covers about twenty.
constexpr double kRate = 0.05;

}  // namespace

StartSampler::StartSampler(const std::vector<Pair>& pairs, double learned_weight,
                           std::uint64_t seed)
    : learned_weight_(learned_weight), seed_(seed) {
  for (const Pair& pair : pairs) {
    Kinds made;
    made.are_situations = !pair.situations.empty();
    for (const Pair::Situation& one : pair.situations) {
      made.kinds.push_back({.share = one.share, .satisfied = one.satisfied});
    }
    if (made.kinds.empty()) made.kinds.emplace_back();
    pairs_.push_back(std::move(made));
  }
}

double StartSampler::WeightOf(const Kind& kind) const {
  return (learned_weight_ + (1.0 - learned_weight_) * (1.0 - kind.success)) / std::sqrt(kind.steps);
}

double StartSampler::weight(std::size_t pair) const {
  const Kinds& of = pairs_[pair];
  if (of.excluded) return 0;
  double sum = 0;
  double shares = 0;
  for (const Kind& kind : of.kinds) {
    if (kind.satisfied) continue;
    sum += kind.share * WeightOf(kind);
    shares += kind.share;
  }
  return shares > 0 ? sum / shares : learned_weight_;
}

StartSampler::Start StartSampler::Sample(std::uint64_t environment, std::uint64_t episode) const {
  std::vector<double> weights;
  for (std::size_t pair = 0; pair < pairs_.size(); ++pair) weights.push_back(weight(pair));
  Start start{
      .pair = runtime::WeightedIndex(weights, runtime::UniformAt(seed_, environment, episode, 0))};
  const Kinds& of = pairs_[start.pair];
  if (!of.are_situations) return start;
  weights.clear();
  for (const Kind& kind : of.kinds) {
    weights.push_back(kind.share * (kind.satisfied ? weight(start.pair) : WeightOf(kind)));
  }
  start.situation =
      runtime::WeightedIndex(weights, runtime::UniformAt(seed_, environment, episode, 1));
  return start;
}

void StartSampler::Note(const Start& start, bool success, int steps) {
  Kind& kind = pairs_[start.pair].kinds[start.situation.value_or(0)];
  kind.success += kRate * ((success ? 1.0 : 0.0) - kind.success);
  kind.steps += kRate * (std::max(1, steps) - kind.steps);
}

}  // namespace shoal::actor
