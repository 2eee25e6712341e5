// SPDX-License-Identifier: Apache-2.0
// GRPO (Shao et al. 2024, "DeepSeekMath"): PPO's clipped loss with the advantage of a whole episode
// over others from the same start, and no critic. Unrolls are cut by episode, and episodes that
// share a start are a group (actor.group_size). All rows count alike, so long episodes weigh more,
// as in DAPO (Yu et al. 2025) and unlike the paper, which takes the mean of each episode first.
#include <map>
#include <memory>
#include <vector>

#include "rl/algorithms/algorithm.h"
#include "rl/algorithms/algorithm_options.h"
#include "rl/algorithms/policy_loss.h"
#include "rl/estimators/group_advantages.h"

namespace shoal::algorithms {
namespace {

class Grpo final : public PolicyAlgorithm {
 public:
  explicit Grpo(const AlgorithmOptions& options) : options_(options) {}

  Requirements requirements() const override {
    return {.update_epochs = options_.update_epochs,
            .minibatches = options_.minibatches,
            .keeps_advantages = true};
  }

  Targets Estimate(const UnrollBatch& batch, const PolicyView&) const override {
    const std::vector<float> returns = ColumnReturns(batch, options_.reward_scale);
    std::map<std::int64_t, std::vector<std::size_t>> groups;
    for (std::size_t column = 0; column < returns.size(); ++column) {
      groups[batch.group.empty() ? 0 : batch.group[column]].push_back(column);
    }
    std::vector<float> advantage(returns.size());
    for (const auto& [group, members] : groups) {
      std::vector<float> outcomes;
      for (const std::size_t member : members) outcomes.push_back(returns[member]);
      const std::vector<float> of_members = estimators::GroupAdvantages(outcomes);
      for (std::size_t i = 0; i < members.size(); ++i) advantage[members[i]] = of_members[i];
    }
    return ColumnTargets(batch, advantage);
  }

  PolicyTerms PolicyLoss(const PolicyRows& rows) const override {
    PolicyTerms terms = ClippedLoss(rows, {.near = options_.clip, .far = options_.dual_clip});
    AddEntropyBonus(rows, terms);
    return terms;
  }

  ValueTerms ValueLoss(const ValueRows& rows) const override {
    return SquaredLoss(rows, /*coefficient=*/0, /*clip=*/0);
  }

  std::vector<std::string> metric_names() const override { return {"clip_fraction"}; }

 private:
  const AlgorithmOptions options_;
};

}  // namespace

std::unique_ptr<const Algorithm> MakeGrpo(const AlgorithmOptions& options) {
  return std::make_unique<Grpo>(options);
}

}  // namespace shoal::algorithms
