// SPDX-License-Identifier: Apache-2.0
#include "rl/model/choose.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace shoal::model {
namespace {

// Below every log-probability that a legal action can have, above every illegal one's.
constexpr float kSurelyIllegal = kIllegalLogit / 2;

std::size_t Sample(std::span<const float> probabilities, double draw) {
  double total = 0;
  for (const float p : probabilities) total += p;
  const double target = draw * total;
  double cumulative = 0;
  std::size_t last = 0;
  for (std::size_t i = 0; i < probabilities.size(); ++i) {
    if (!(probabilities[i] > 0)) continue;
    cumulative += probabilities[i];
    last = i;
    if (cumulative > target) break;
  }
  return last;
}

std::vector<std::size_t> LegalActions(std::span<const float> log_probabilities) {
  std::vector<std::size_t> legal;
  for (std::size_t i = 0; i < log_probabilities.size(); ++i) {
    if (log_probabilities[i] > kSurelyIllegal) legal.push_back(i);
  }
  return legal;
}

std::size_t MostSimilar(std::span<const float> similarity, std::int64_t rank) {
  std::vector<std::size_t> order = LegalActions(similarity);
  if (order.empty()) return 0;
  const auto chosen = order.begin() + rank % static_cast<std::int64_t>(order.size());
  std::nth_element(order.begin(), chosen, order.end(), [&](std::size_t a, std::size_t b) {
    return similarity[a] != similarity[b] ? similarity[a] > similarity[b] : a < b;
  });
  return *chosen;
}

}  // namespace

void ChooseAction(const Distribution& distribution, const PolicyInputs& inputs, std::int64_t row,
                  PolicyOutputs& outputs) {
  const auto r = static_cast<std::size_t>(row);
  const auto& logs = distribution.log_probabilities;
  std::size_t action = 0;
  switch (inputs.choice[r]) {
    case Choice::kValueOnly:
      return;
    case Choice::kSample:
      action = Sample(distribution.probabilities, inputs.draw[r]);
      break;
    case Choice::kGreedy:
      action = static_cast<std::size_t>(std::max_element(logs.begin(), logs.end()) - logs.begin());
      break;
    case Choice::kForced:
      action = static_cast<std::size_t>(inputs.forced_action[r]);
      break;
    case Choice::kSimilarity:
      action = MostSimilar(distribution.similarity, inputs.similarity_rank[r]);
      break;
    case Choice::kUniform: {
      const std::vector<std::size_t> legal = LegalActions(logs);
      if (legal.empty()) break;
      const auto count = static_cast<double>(legal.size());
      action = legal[static_cast<std::size_t>(inputs.draw[r] * count)];
      outputs.action[r] = static_cast<std::int64_t>(action);
      outputs.log_probability[r] = static_cast<float>(-std::log(count));
      return;
    }
  }
  outputs.action[r] = static_cast<std::int64_t>(action);
  outputs.log_probability[r] = logs[action];
}

}  // namespace shoal::model
