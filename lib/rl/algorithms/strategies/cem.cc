// SPDX-License-Identifier: Apache-2.0
// The cross-entropy method for policies (Rubinstein and Kroese 2004; Lapan, "Deep Reinforcement
// Learning Hands-On"): of each batch of episodes the policy imitates those with the greatest
// returns. Unrolls are cut by episode, and each rank chooses among its own. There is no critic.
#include <memory>
#include <vector>

#include "rl/algorithms/algorithm.h"
#include "rl/algorithms/algorithm_options.h"
#include "rl/algorithms/policy_loss.h"
#include "rl/estimators/elites.h"

namespace shoal::algorithms {
namespace {

class Cem final : public PolicyAlgorithm {
 public:
  explicit Cem(const AlgorithmOptions& options) : options_(options) {}

  Requirements requirements() const override {
    return {.update_epochs = options_.update_epochs,
            .minibatches = options_.minibatches,
            .keeps_advantages = true};
  }

  Targets Estimate(const UnrollBatch& batch, const PolicyView&) const override {
    const std::vector<float> returns = ColumnReturns(batch, options_.reward_scale);
    std::vector<float> imitated(returns.size());
    for (const std::size_t elite : estimators::Elites(returns, options_.elite_percentile)) {
      imitated[elite] = 1;
    }
    return ColumnTargets(batch, imitated);
  }

  PolicyTerms PolicyLoss(const PolicyRows& rows) const override {
    PolicyTerms terms = LogProbabilityLoss(rows);
    AddEntropyBonus(rows, terms);
    return terms;
  }

  ValueTerms ValueLoss(const ValueRows& rows) const override {
    return SquaredLoss(rows, /*coefficient=*/0, /*clip=*/0);
  }

 private:
  const AlgorithmOptions options_;
};

}  // namespace

std::unique_ptr<const Algorithm> MakeCem(const AlgorithmOptions& options) {
  return std::make_unique<Cem>(options);
}

}  // namespace shoal::algorithms
