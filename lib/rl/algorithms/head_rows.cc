// SPDX-License-Identifier: Apache-2.0
#include "rl/algorithms/head_rows.h"

#include <ATen/ops/empty.h>

#include <cstddef>

namespace shoal::algorithms {
namespace {

bool SoftmaxBackward(std::span<const HeadRow> rows, std::span<const std::int64_t> positions,
                     const HeadLoss& loss) {
  const auto count = static_cast<std::int64_t>(rows.size());
  HeadRows head{.positions = positions,
                .log_probability = at::empty({count}, at::kDouble),
                .entropy = at::empty({count}, at::kDouble),
                .greedy = at::empty({count}, at::kDouble)};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const float chosen = rows[i].numbers[static_cast<std::size_t>(rows[i].action)];
    head.log_probability.data_ptr<double>()[i] = rows[i].softmax.LogProbability(chosen);
    head.entropy.data_ptr<double>()[i] = rows[i].softmax.Entropy();
    head.greedy.data_ptr<double>()[i] = chosen == rows[i].softmax.maximum ? 1 : 0;
  }
  const HeadDerivatives by = loss(head);
  if (!by.by_log_probability.defined()) return false;
  const double* const by_log = by.by_log_probability.const_data_ptr<double>();
  const double* const by_entropy = by.by_entropy.const_data_ptr<double>();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    // d log p(a) / d logit = [a] - p;  d entropy / d logit = -p (log p + entropy), with
    // log p = x - maximum - log sum.
    const double entropy = head.entropy.const_data_ptr<double>()[i];
    const double sum = rows[i].softmax.sum;
    const double log_sum = -rows[i].softmax.LogProbability(rows[i].softmax.maximum);
    const double constant = -(by_log[i] + by_entropy[i] * (entropy - log_sum)) / sum;
    model::SoftmaxGradient(rows[i].numbers, rows[i].softmax.maximum, static_cast<float>(constant),
                           static_cast<float>(-by_entropy[i] / sum));
    rows[i].numbers[static_cast<std::size_t>(rows[i].action)] += static_cast<float>(by_log[i]);
  }
  return true;
}

bool ActionValueBackward(std::span<const HeadRow> rows, std::span<const std::int64_t> positions,
                         const HeadLoss& loss) {
  const auto count = static_cast<std::int64_t>(rows.size());
  HeadRows head{.positions = positions,
                .chosen = at::empty({count}, at::kDouble),
                .mean = at::empty({count}, at::kDouble),
                .maximum = at::empty({count}, at::kDouble),
                .greedy_action = at::empty({count}, at::kLong)};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    head.chosen.data_ptr<double>()[i] = rows[i].numbers[static_cast<std::size_t>(rows[i].action)];
    head.mean.data_ptr<double>()[i] = rows[i].values.mean;
    head.maximum.data_ptr<double>()[i] = rows[i].values.maximum;
    head.greedy_action.data_ptr<std::int64_t>()[i] = rows[i].values.greedy_action;
  }
  const HeadDerivatives by = loss(head);
  if (!by.by_chosen.defined()) return false;
  const double* const by_chosen = by.by_chosen.const_data_ptr<double>();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    float share = 0;
    if (by.by_mean.defined() && rows[i].values.legal > 0) {
      share = static_cast<float>(by.by_mean.const_data_ptr<double>()[i] /
                                 static_cast<double>(rows[i].values.legal));
    }
    for (float& number : rows[i].numbers) {
      number = number > model::kSurelyIllegalLogit ? share : 0.0F;
    }
    rows[i].numbers[static_cast<std::size_t>(rows[i].action)] += static_cast<float>(by_chosen[i]);
  }
  return true;
}

}  // namespace

bool HeadBackward(std::span<const HeadRow> rows, std::span<const std::int64_t> positions,
                  HeadOutput output, const HeadLoss& loss) {
  return output == HeadOutput::kLogits ? SoftmaxBackward(rows, positions, loss)
                                       : ActionValueBackward(rows, positions, loss);
}

}  // namespace shoal::algorithms
