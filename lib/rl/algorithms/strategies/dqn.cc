// SPDX-License-Identifier: Apache-2.0
// Deep Q-learning (Mnih et al. 2015) in the form of Rainbow's parts (Hessel et al. 2018): double Q,
// returns of n steps, Huber's loss, and, by the policy's and replay's options, a dueling head and
// prioritized replay. With a recurrent core, transformed values and unrolls that begin with rows
// without weight it is R2D2 (Kapturowski et al. 2019).
#include <ATen/ops/where.h>

#include <memory>

#include "rl/algorithms/algorithm_options.h"
#include "rl/algorithms/strategies/q_learning.h"

namespace shoal::algorithms {
namespace {

class Dqn final : public QLearning {
 public:
  using QLearning::QLearning;

  ActionValueTerms Loss(const ActionValueRows& rows) const override {
    const at::Tensor error = rows.action_value.sub(rows.target);
    const at::Tensor size = error.abs();
    const at::Tensor square = error.square().mul_(0.5);
    ActionValueTerms terms{.loss = square,
                           .by_action_value = error,
                           .error = error,
                           .metrics = {rows.action_value, size}};
    const double bound = options_.huber;
    if (bound != 0) {
      terms.loss = at::where(size.le(bound), square, size.sub(bound / 2).mul_(bound));
      terms.by_action_value = error.clamp(-bound, bound);
    }
    return terms;
  }

  std::vector<std::string> metric_names() const override {
    return {"action_value", "absolute_error"};
  }
};

}  // namespace

std::unique_ptr<const Algorithm> MakeDqn(const AlgorithmOptions& options) {
  return std::make_unique<Dqn>(options);
}

}  // namespace shoal::algorithms
