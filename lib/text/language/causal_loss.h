// SPDX-License-Identifier: Apache-2.0
// Cross-entropy of each token given those before it, weighted token by token.
//
// Shows torch. The loss is a sum: whoever calls divides, by this batch's weight or by that of all
// ranks together. Logits are never there as a whole: rows go through the output a few at a time,
// and their gradients are computed at once, while they are at hand (as Hsu et al., "Liger Kernel",
// 2024, does), so memory is rows_at_once x V and no logit is computed twice.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>

#include "text/language/token_batch.h"

namespace shoal::language {

struct CausalLoss {
  // Sum of weight x cross-entropy, float32; differentiable once by hidden and embedding.
  at::Tensor sum;
  // Sum of the weights that counted.
  double weight = 0;
  // The part of that weight whose tokens were the most probable ones.
  double correct = 0;
};

// hidden: [T, D], the last layer's; embedding: [V, D], the tied output. weights: [T], how much
// token t counts as a target; a sequence's first token is nobody's target, its weight is passed
// over; rows of weight 0 cost nothing. Empty: 1 for all. REQUIRES: sizes fit, weights are finite,
// the batch is valid, rows_at_once >= 1.
CausalLoss ComputeCausalLoss(const at::Tensor& hidden, const at::Tensor& embedding,
                             const TokenBatch& batch, std::span<const float> weights,
                             at::ScalarType compute = at::kFloat, std::int64_t rows_at_once = 1024);

}  // namespace shoal::language
