// SPDX-License-Identifier: Apache-2.0
// PPO (Schulman et al. 2017) with generalised advantages: by clipped ratios with the second bound
// of dual-clip PPO, by a penalty on the KL, or by both.
#include <memory>

#include "rl/algorithms/algorithm.h"
#include "rl/algorithms/algorithm_options.h"
#include "rl/algorithms/policy_loss.h"

namespace shoal::algorithms {
namespace {

class Ppo final : public PolicyAlgorithm {
 public:
  explicit Ppo(const AlgorithmOptions& options) : options_(options) {}

  Requirements requirements() const override {
    return {.update_epochs = options_.update_epochs, .minibatches = options_.minibatches};
  }

  Targets Estimate(const UnrollBatch& batch, const PolicyView& view) const override {
    return GeneralisedTargets(batch, view, options_.targets());
  }

  PolicyTerms PolicyLoss(const PolicyRows& rows) const override {
    PolicyTerms terms = ClippedLoss(rows, {.near = options_.clip, .far = options_.dual_clip});
    if (rows.weights.kl > 0) AddKlPenalty(rows, terms);
    AddEntropyBonus(rows, terms);
    return terms;
  }

  ValueTerms ValueLoss(const ValueRows& rows) const override {
    return SquaredLoss(rows, options_.value_coefficient, options_.value_clip);
  }

  std::vector<std::string> metric_names() const override { return {"clip_fraction"}; }

 private:
  const AlgorithmOptions options_;
};

}  // namespace

std::unique_ptr<const Algorithm> MakePpo(const AlgorithmOptions& options) {
  return std::make_unique<Ppo>(options);
}

}  // namespace shoal::algorithms
