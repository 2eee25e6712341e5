// SPDX-License-Identifier: Apache-2.0
// The cross-entropy of each token given the tokens before it, weighted token by token.
//
// This header shows torch. The loss is a sum; the caller divides it by the weight of this batch, or
// of all ranks together. The logits never exist as a whole. Rows go through the output layer a few
// at a time, and their gradients are computed at once from the same logits (as in Hsu et al.,
// "Liger Kernel", 2024). So memory is rows_at_once x V, and no logit is computed twice.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>

#include "text/language/token_batch.h"

namespace shoal::language {

struct CausalLoss {
  // The sum of weight x cross-entropy, float32; it can be differentiated once by hidden and
  // embedding.
  at::Tensor sum;
  // The sum of the weights that counted.
  double weight = 0;
  // The part of that weight whose tokens were the most probable ones.
  double correct = 0;
};

// hidden: [T, D], the last layer's output; embedding: [V, D], the tied output. weights: [T], the
// weight of token t as a target; empty means 1 for all. The first token of a sequence is not a
// target, so its weight is ignored; rows of weight 0 cost nothing. REQUIRES: sizes fit, weights are
// finite, the batch is valid, rows_at_once >= 1.
CausalLoss ComputeCausalLoss(const at::Tensor& hidden, const at::Tensor& embedding,
                             const TokenBatch& batch, std::span<const float> weights,
                             at::ScalarType compute = at::kFloat, std::int64_t rows_at_once = 1024);

}  // namespace shoal::language
