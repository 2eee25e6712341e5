// SPDX-License-Identifier: Apache-2.0
#include "rl/algorithms/quantile_loss.h"

#include <ATen/ops/where.h>

namespace shoal::algorithms {

QuantileTerms QuantileHuberLoss(const QuantileRows& rows, double kappa) {
  const at::Tensor error = rows.target.sub(rows.value.unsqueeze(1));
  const at::Tensor size = error.abs();
  at::Tensor loss = size;
  at::Tensor slope = error.sign();
  if (kappa > 0) {
    loss = at::where(size.le(kappa), error.square().mul_(0.5 / kappa), size.sub(kappa / 2));
    slope = error.clamp(-kappa, kappa).div_(kappa);
  }
  const at::Tensor weight = rows.fraction.unsqueeze(1).sub(error.lt(0).to(at::kDouble)).abs_();
  return {.loss = weight.mul(loss).mean(1), .by_value = weight.mul(slope).mean(1).neg()};
}

}  // namespace shoal::algorithms
