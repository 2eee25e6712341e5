// SPDX-License-Identifier: Apache-2.0
// The head "gaussian" in training: log-densities and entropies of the rows' recorded actions, by
// the formulas of model/gaussian.h, with gradients by autograd.
//
// This header shows torch and is for this folder only. Functions throw what torch throws.
#pragma once

#include <ATen/core/Tensor.h>

#include "rl/algorithms/batched_head.h"
#include "rl/algorithms/head_loss.h"

namespace shoal::algorithms {

// Calls `loss` once for all R rows, without gradients, and returns what it answered; nothing where
// it asks for no derivatives. `head` [R, 2n] has means and logarithms of deviations, and `action`
// [R, n] the recorded actions. An action counts as greedy where it is the mean.
BatchedHead::Derivatives RunGaussianHead(const at::Tensor& head, const at::Tensor& action,
                                         const HeadLoss& loss);

}  // namespace shoal::algorithms
