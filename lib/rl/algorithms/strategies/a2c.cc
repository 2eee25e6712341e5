// SPDX-License-Identifier: Apache-2.0
// A2C, the batched form of A3C (Mnih et al. 2016). Advantages bootstrap where an unroll ends, and
// each batch gives one gradient step. With lambda 1, advantages are the paper's n-step returns
// minus the value. With asynchronous gradients it is A3C, and with data of older policies and a
// floor under probabilities GA3C (Babaeizadeh et al. 2017).
#include <memory>

#include "rl/algorithms/algorithm.h"
#include "rl/algorithms/algorithm_options.h"
#include "rl/algorithms/policy_loss.h"

namespace shoal::algorithms {
namespace {

class A2c final : public PolicyAlgorithm {
 public:
  explicit A2c(const AlgorithmOptions& options) : options_(options) {}

  Requirements requirements() const override { return {}; }

  Targets Estimate(const UnrollBatch& batch, const PolicyView& view) const override {
    return GeneralisedTargets(batch, view, options_.targets());
  }

  PolicyTerms PolicyLoss(const PolicyRows& rows) const override {
    PolicyTerms terms = LogProbabilityLoss(rows, options_.probability_floor);
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

std::unique_ptr<const Algorithm> MakeA2c(const AlgorithmOptions& options) {
  return std::make_unique<A2c>(options);
}

}  // namespace shoal::algorithms
