// SPDX-License-Identifier: Apache-2.0
// The loss of quantile regression, by which a number becomes a quantile of what it is compared with
// (Dabney et al. 2018, "Distributional reinforcement learning with quantile regression", and
// "Implicit quantile networks", equation 3).
//
// Pure; this header shows torch. Throws what torch throws.
#pragma once

#include <ATen/core/Tensor.h>

namespace shoal::algorithms {

// R numbers, each with M samples of the distribution whose quantile it is to be. All tensors are
// double, on one device.
struct QuantileRows {
  at::Tensor value;     // [R]
  at::Tensor fraction;  // [R], in [0, 1): which quantile
  at::Tensor target;    // [R, M], M at least 1
};

// The loss of each number, to be minimised, and its derivative by the number. All are [R].
struct QuantileTerms {
  at::Tensor loss;
  at::Tensor by_value;
};

// Returns the mean over the samples y of |fraction - [y < value]| L(y - value) / kappa, with
// Huber's L: half the square up to kappa, linear above. With kappa 0 the last factor is |y -
// value|. REQUIRES: kappa is not negative.
QuantileTerms QuantileHuberLoss(const QuantileRows& rows, double kappa);

}  // namespace shoal::algorithms
