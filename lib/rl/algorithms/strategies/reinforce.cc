// SPDX-License-Identifier: Apache-2.0
// REINFORCE (Williams 1992) with the value as baseline. It uses returns to the end of the unroll,
// and each batch gives one gradient step.
#include <memory>

#include "rl/algorithms/algorithm.h"
#include "rl/algorithms/algorithm_options.h"
#include "rl/algorithms/policy_loss.h"

namespace shoal::algorithms {
namespace {

class Reinforce final : public PolicyAlgorithm {
 public:
  explicit Reinforce(const AlgorithmOptions& options) : options_(options) {}

  Requirements requirements() const override { return {}; }

  Targets Estimate(const UnrollBatch& batch, const PolicyView& view) const override {
    TargetOptions targets = options_.targets();
    targets.lambda = 1;
    return GeneralisedTargets(batch, view, targets);
  }

  PolicyTerms PolicyLoss(const PolicyRows& rows) const override {
    PolicyTerms terms = LogProbabilityLoss(rows);
    AddEntropyBonus(rows, terms);
    return terms;
  }

  ValueTerms ValueLoss(const ValueRows& rows) const override {
    return SquaredLoss(rows, options_.value_coefficient, options_.value_clip);
  }

 private:
  const AlgorithmOptions options_;
};

}  // namespace

std::unique_ptr<const Algorithm> MakeReinforce(const AlgorithmOptions& options) {
  return std::make_unique<Reinforce>(options);
}

}  // namespace shoal::algorithms
