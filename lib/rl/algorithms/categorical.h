// SPDX-License-Identifier: Apache-2.0
// Log-probability and entropy of rows of logits, and the gradient of a loss of the two, in place.
//
// Shows torch: for this folder only. One chunk of rows at a time, so the memory of a large
// catalog's probabilities is that of one chunk.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace shoal::algorithms {

struct CategoricalDerivatives {
  double by_log_probability = 0;
  double by_entropy = 0;
};

// Given a row of the chunk and its action's log-probability and the row's entropy.
using CategoricalLoss =
    std::function<CategoricalDerivatives(std::size_t row, double log_probability, double entropy)>;

// The derivatives of `loss` by `logits` [R, N], float, contiguous, which are overwritten with
// scratch. `actions` [R], each < N.
at::Tensor CategoricalGradient(at::Tensor& logits, std::span<const std::int64_t> actions,
                               const CategoricalLoss& loss);

}  // namespace shoal::algorithms
