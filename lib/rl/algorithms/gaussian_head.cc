// SPDX-License-Identifier: Apache-2.0
#include "rl/algorithms/gaussian_head.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>

#include <cmath>
#include <cstdint>
#include <numbers>
#include <numeric>
#include <vector>

#include "rl/model/squashed_gaussian.h"

namespace shoal::algorithms {

BatchedHead::Derivatives RunGaussianHead(const at::Tensor& head, const at::Tensor& action,
                                         const HeadLoss& loss) {
  const double log_two_pi = std::log(2 * std::numbers::pi);
  const std::int64_t n = action.size(1);
  const at::Tensor numbers = head.to(at::kDouble);
  const at::Tensor mean = numbers.narrow(1, 0, n);
  const at::Tensor log_deviation =
      numbers.narrow(1, n, n).clamp(model::kLeastLogDeviation, model::kGreatestLogDeviation);
  const at::Tensor noise = action.to(at::kDouble).sub(mean).div(log_deviation.exp());
  const at::Tensor log_density =
      noise.square().mul(-0.5).sub(log_deviation).sub(0.5 * log_two_pi).sum(1);
  const at::Tensor entropy = log_deviation.add(0.5 * (log_two_pi + 1)).sum(1);

  const at::NoGradGuard no_grad;
  std::vector<std::int64_t> positions(static_cast<std::size_t>(head.size(0)));
  std::iota(positions.begin(), positions.end(), 0);
  const at::Tensor greedy = noise.detach().eq(0).all(1).to(at::kDouble);
  const HeadDerivatives by =
      loss({.positions = positions,
            .where = at::arange(head.size(0), head.options().dtype(at::kLong)),
            .log_probability = log_density.detach(),
            .entropy = entropy.detach(),
            .greedy = greedy});
  if (!by.by_log_probability.defined()) return {};
  return {.of = {log_density, entropy}, .by = {by.by_log_probability, by.by_entropy}};
}

}  // namespace shoal::algorithms
