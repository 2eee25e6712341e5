// SPDX-License-Identifier: Apache-2.0
// Implicit quantile networks (Dabney et al. 2018): DQN that learns the distribution of returns. The
// network states the quantile of a return at a fraction that is drawn anew in each update; each is
// compared with quantiles of the target network's return of the action whose mean is greatest. The
// policy needs quantile_cosines. With n_step, double_q and prioritized replay it takes the parts of
// Rainbow that DQN takes.
#include <memory>

#include "rl/algorithms/algorithm_options.h"
#include "rl/algorithms/quantile_loss.h"
#include "rl/algorithms/strategies/q_learning.h"

namespace shoal::algorithms {
namespace {

class Iqn final : public QLearning {
 public:
  using QLearning::QLearning;

  QuantileCounts quantiles() const override {
    return {.trained = options_.quantiles, .target = options_.target_quantiles};
  }

  ActionValueTerms Loss(const ActionValueRows& rows) const override {
    const QuantileTerms terms = QuantileHuberLoss(
        {.value = rows.action_value, .fraction = rows.fraction, .target = rows.target},
        options_.huber);
    return {.loss = terms.loss,
            .by_action_value = terms.by_value,
            .error = rows.action_value.sub(rows.target.mean(1)),
            .metrics = {rows.action_value, terms.loss}};
  }

  std::vector<std::string> metric_names() const override {
    return {"action_value", "quantile_loss"};
  }
};

}  // namespace

std::unique_ptr<const Algorithm> MakeIqn(const AlgorithmOptions& options) {
  return std::make_unique<Iqn>(options);
}

}  // namespace shoal::algorithms
