// SPDX-License-Identifier: Apache-2.0
#include "placer/sequence_search.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/tensor.h>
#include <torch/nn/utils/clip_grad.h>
#include <torch/optim/adam.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "placer/group_features.h"
#include "placer/sequence_policy.h"
#include "platform/runtime/random.h"
#include "rl/model/torch_guard.h"

namespace shoal::placer {
namespace {

// What rewards are compared with: a moving average of their means, and of how far they are from it.
class Baseline {
 public:
  // Returns how good each reward is, and learns from all of them after that.
  std::vector<float> Advantages(const std::vector<double>& rewards) {
    constexpr double kShare = 0.1;
    constexpr double kLeastScale = 1e-9;
    const auto count = static_cast<double>(rewards.size());
    double mean = 0;
    for (const double reward : rewards) mean += reward / count;
    if (first_) mean_ = mean;
    double distance = 0;
    for (const double reward : rewards) distance += std::abs(reward - mean_) / count;
    if (first_) scale_ = distance;
    first_ = false;
    std::vector<float> advantages;
    for (const double reward : rewards) {
      advantages.push_back(static_cast<float>((reward - mean_) / std::max(scale_, kLeastScale)));
    }
    mean_ += kShare * (mean - mean_);
    scale_ += kShare * (distance - scale_);
    return advantages;
  }

 private:
  bool first_ = true;
  double mean_ = 0;
  double scale_ = 0;
};

absl::StatusOr<placement::Found> Search(const placement::SequenceRule& rule,
                                        const placement::Graph& graph,
                                        placement::Simulator& simulator,
                                        const placement::SearchOptions& options) {
  constexpr double kLargestGradient = 1;
  const GroupFeatures features = FeaturesOf(graph, simulator);
  const std::size_t groups = features.order.size();
  SequencePolicy policy(features, simulator.devices(), rule.hidden,
                        runtime::DeriveSeed(options.seed, "placement-reinforce"));
  torch::optim::Adam adam(policy.parameters(), torch::optim::AdamOptions(rule.learning_rate));
  Baseline baseline;
  placement::Trial trial(simulator, options);
  while (true) {
    const DrawnPlacements drawn = policy.Draw(rule.gradient_every);
    std::vector<double> rewards;
    for (std::int64_t row = 0; row < rule.gradient_every; ++row) {
      const auto* devices =
          drawn.devices.const_data_ptr<std::int64_t>() + row * static_cast<std::int64_t>(groups);
      placement::Placement placement(groups);
      for (std::size_t i = 0; i < groups; ++i) {
        placement[features.order[i]] = static_cast<std::size_t>(devices[i]);
      }
      SHOAL_ASSIGN_OR_RETURN(const double cost, trial.Cost(placement));
      rewards.push_back(-std::sqrt(cost));
      if (trial.Ended()) return trial.Take();
    }
    const at::Tensor advantages = at::tensor(baseline.Advantages(rewards));
    adam.zero_grad();
    (-(advantages * drawn.log_probability).mean() -
     rule.entropy * static_cast<double>(groups) * drawn.entropy.mean())
        .backward();
    torch::nn::utils::clip_grad_norm_(policy.parameters(), kLargestGradient);
    adam.step();
  }
}

}  // namespace

absl::StatusOr<placement::Found> SearchBySequence(const placement::SequenceRule& rule,
                                                  const placement::Graph& graph,
                                                  placement::Simulator& simulator,
                                                  const placement::SearchOptions& options) {
  SHOAL_RETURN_IF_ERROR(placement::CheckSequence(rule, graph));
  return model::GuardTorch("placement-reinforce",
                           [&] { return Search(rule, graph, simulator, options); });
}

}  // namespace shoal::placer
