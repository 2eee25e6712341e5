// SPDX-License-Identifier: Apache-2.0
#include "rl/algorithms/categorical.h"

#include <ATen/ops/_log_softmax.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/mul.h>

namespace shoal::algorithms {

at::Tensor CategoricalGradient(at::Tensor& logits, std::span<const std::int64_t> actions,
                               const CategoricalLoss& loss) {
  at::Tensor logs = at::_log_softmax(logits, 1, false);
  at::Tensor& probabilities = logits;
  at::exp_out(probabilities, logs);
  const at::Tensor entropies = at::mul(probabilities, logs).sum({1}).neg_();
  const std::int64_t rows = logs.size(0);
  const std::int64_t width = logs.size(1);
  const float* const log_data = logs.data_ptr<float>();
  const float* const entropy = entropies.data_ptr<float>();
  at::Tensor by_entropy = at::empty({rows, 1}, at::kFloat);
  at::Tensor constant = at::empty({rows, 1}, at::kFloat);
  std::vector<float> by_log(static_cast<std::size_t>(rows));
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto r = static_cast<std::size_t>(row);
    const double log_probability = log_data[row * width + actions[r]];
    const CategoricalDerivatives by = loss(r, log_probability, entropy[row]);
    by_log[r] = static_cast<float>(by.by_log_probability);
    by_entropy.data_ptr<float>()[row] = static_cast<float>(-by.by_entropy);
    constant.data_ptr<float>()[row] =
        static_cast<float>(by.by_log_probability + by.by_entropy * entropy[row]);
  }
  // d log p(a) / d logit = [a] - p;  d entropy / d logit = -p (log p + entropy).
  at::Tensor gradient = logs.mul_(by_entropy).sub_(constant).mul_(probabilities);
  float* const out = gradient.data_ptr<float>();
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto r = static_cast<std::size_t>(row);
    out[row * width + actions[r]] += by_log[r];
  }
  return gradient;
}

}  // namespace shoal::algorithms
