// SPDX-License-Identifier: Apache-2.0
#include "rl/model/choose.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "rl/model/candidate_softmax.h"

namespace shoal::model {
namespace {

// A threshold: the logits of legal actions lie above it, those of illegal actions below it.
constexpr float kSurelyIllegal = kIllegalLogit / 2;

std::size_t Sample(std::span<const float> logits, const SoftmaxRow& softmax, double draw) {
  thread_local std::vector<float> weights;
  weights.resize(logits.size());
  Exponentials(logits, softmax.maximum, weights);
  const double target = draw * softmax.sum;
  double cumulative = 0;
  std::size_t last = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (!(weights[i] > 0)) continue;
    cumulative += weights[i];
    last = i;
    if (cumulative > target) break;
  }
  return last;
}

std::vector<std::size_t> LegalActions(std::span<const float> logits) {
  std::vector<std::size_t> legal;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    if (logits[i] > kSurelyIllegal) legal.push_back(i);
  }
  return legal;
}

std::size_t MostSimilar(std::span<const float> logits, std::span<const float> similarity,
                        std::int64_t rank) {
  std::vector<std::size_t> order = LegalActions(logits);
  if (order.empty()) return 0;
  const auto chosen = order.begin() + rank % static_cast<std::int64_t>(order.size());
  std::nth_element(order.begin(), chosen, order.end(), [&](std::size_t a, std::size_t b) {
    return similarity[a] != similarity[b] ? similarity[a] > similarity[b] : a < b;
  });
  return *chosen;
}

}  // namespace

void ChooseAction(const RowLogits& row_logits, const PolicyInputs& inputs, std::int64_t row,
                  PolicyOutputs& outputs) {
  const auto r = static_cast<std::size_t>(row);
  const std::span<const float> logits = row_logits.logits;
  if (inputs.choice[r] == Choice::kValueOnly) return;
  if (inputs.choice[r] == Choice::kUniform) {
    const std::vector<std::size_t> legal = LegalActions(logits);
    if (legal.empty()) return;
    const auto count = static_cast<double>(legal.size());
    const std::size_t action = legal[static_cast<std::size_t>(inputs.draw[r] * count)];
    outputs.action[r] = static_cast<std::int64_t>(action);
    outputs.log_probability[r] = static_cast<float>(-std::log(count));
    return;
  }
  const SoftmaxRow softmax = Summarise(logits);
  std::size_t action = 0;
  switch (inputs.choice[r]) {
    case Choice::kSample:
      action = Sample(logits, softmax, inputs.draw[r]);
      break;
    case Choice::kForced:
      action = static_cast<std::size_t>(inputs.forced_action[r]);
      break;
    case Choice::kSimilarity:
      action = MostSimilar(logits, row_logits.similarity(), inputs.similarity_rank[r]);
      break;
    default:
      action =
          static_cast<std::size_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
  }
  outputs.action[r] = static_cast<std::int64_t>(action);
  outputs.log_probability[r] = static_cast<float>(softmax.LogProbability(logits[action]));
}

}  // namespace shoal::model
