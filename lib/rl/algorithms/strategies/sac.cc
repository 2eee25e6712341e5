// SPDX-License-Identifier: Apache-2.0
// Soft actor-critic with two critics and an automatic temperature (Haarnoja et al. 2018, "Soft
// Actor-Critic Algorithms and Applications"), and its form for discrete actions, where expectations
// over the policy are exact (Christodoulou 2019, "Soft Actor-Critic for Discrete Action Settings").
#include <cmath>
#include <memory>

#include "rl/algorithms/algorithm.h"
#include "rl/algorithms/algorithm_options.h"

namespace shoal::algorithms {
namespace {

class Sac final : public SoftAlgorithm {
 public:
  explicit Sac(const AlgorithmOptions& options) : options_(options) {}

  Requirements requirements() const override {
    return {.update_epochs = options_.update_epochs,
            .minibatches = options_.minibatches,
            .off_policy = true};
  }

  // A soft return of n steps earns the entropy of every row that it arrives in, the last included.
  std::vector<float> Estimate(const UnrollBatch& batch, const SoftView& view) const override {
    return ActionValueTargets(
        batch, view.value,
        {.gamma = options_.gamma, .reward_scale = options_.reward_scale, .n_step = options_.n_step},
        view.entropy_bonus);
  }

  double TargetEntropy(const model::PolicySpec& spec) const override {
    const auto actions = static_cast<double>(spec.action_count);
    return spec.has_box() ? -actions : options_.target_entropy_share * std::log(actions);
  }

  std::vector<std::string> metric_names() const override {
    return {"action_value", "absolute_error", "temperature"};
  }

 private:
  const AlgorithmOptions options_;
};

}  // namespace

std::unique_ptr<const Algorithm> MakeSac(const AlgorithmOptions& options) {
  return std::make_unique<Sac>(options);
}

}  // namespace shoal::algorithms
