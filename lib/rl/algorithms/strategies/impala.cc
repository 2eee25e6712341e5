// SPDX-License-Identifier: Apache-2.0
// IMPALA (Espeholt et al. 2018). V-trace targets from the current policy's view of the batch
// correct for the versions published since its rows were recorded. Each batch gives one gradient
// step.
#include <memory>

#include "rl/algorithms/algorithm.h"
#include "rl/algorithms/algorithm_options.h"
#include "rl/algorithms/policy_loss.h"

namespace shoal::algorithms {
namespace {

class Impala final : public PolicyAlgorithm {
 public:
  explicit Impala(const AlgorithmOptions& options) : options_(options) {}

  Requirements requirements() const override { return {.current_policy = true}; }

  Targets Estimate(const UnrollBatch& batch, const PolicyView& view) const override {
    return VtraceTargets(batch, view, options_.targets(), options_.vtrace());
  }

  PolicyTerms PolicyLoss(const PolicyRows& rows) const override {
    // The advantage already contains the importance weight.
    PolicyTerms terms = LogProbabilityLoss(rows);
    AddEntropyBonus(rows, terms);
    const at::Tensor weights = ImportanceWeights(rows);
    terms.metrics = {weights, weights.gt(options_.clip_rho).to(weights.scalar_type())};
    return terms;
  }

  ValueTerms ValueLoss(const ValueRows& rows) const override {
    return SquaredLoss(rows, options_.value_coefficient, options_.value_clip);
  }

  std::vector<std::string> metric_names() const override {
    return {"importance_weight", "clip_fraction"};
  }

 private:
  const AlgorithmOptions options_;
};

}  // namespace

std::unique_ptr<const Algorithm> MakeImpala(const AlgorithmOptions& options) {
  return std::make_unique<Impala>(options);
}

}  // namespace shoal::algorithms
