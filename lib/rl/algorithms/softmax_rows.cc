// SPDX-License-Identifier: Apache-2.0
#include "rl/algorithms/softmax_rows.h"

#include <ATen/ops/empty.h>

#include <cstddef>

#include "rl/model/candidate_softmax.h"

namespace shoal::algorithms {

bool SoftmaxBackward(std::span<const LogitRow> rows, std::span<const std::int64_t> positions,
                     const HeadLoss& loss) {
  const auto count = static_cast<std::int64_t>(rows.size());
  HeadRows head{.positions = positions,
                .log_probability = at::empty({count}, at::kDouble),
                .entropy = at::empty({count}, at::kDouble),
                .greedy = at::empty({count}, at::kDouble)};
  std::vector<model::SoftmaxRow> softmax;
  softmax.reserve(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const float chosen = rows[i].logits[static_cast<std::size_t>(rows[i].action)];
    softmax.push_back(model::Summarise(rows[i].logits));
    head.log_probability.data_ptr<double>()[i] = softmax[i].LogProbability(chosen);
    head.entropy.data_ptr<double>()[i] = softmax[i].Entropy();
    head.greedy.data_ptr<double>()[i] = chosen == softmax[i].maximum ? 1 : 0;
  }
  const HeadDerivatives by = loss(head);
  if (!by.by_log_probability.defined()) return false;
  const double* const by_log = by.by_log_probability.const_data_ptr<double>();
  const double* const by_entropy = by.by_entropy.const_data_ptr<double>();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    // d log p(a) / d logit = [a] - p;  d entropy / d logit = -p (log p + entropy), with
    // log p = x - maximum - log sum.
    const double entropy = head.entropy.const_data_ptr<double>()[i];
    const double sum = softmax[i].sum;
    const double log_sum = -softmax[i].LogProbability(softmax[i].maximum);
    const double constant = -(by_log[i] + by_entropy[i] * (entropy - log_sum)) / sum;
    model::SoftmaxGradient(rows[i].logits, softmax[i].maximum, static_cast<float>(constant),
                           static_cast<float>(-by_entropy[i] / sum));
    rows[i].logits[static_cast<std::size_t>(rows[i].action)] += static_cast<float>(by_log[i]);
  }
  return true;
}

}  // namespace shoal::algorithms
