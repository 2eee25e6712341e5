// SPDX-License-Identifier: Apache-2.0
// The cross-entropy of each token given the tokens before it, weighted token by token.
//
// This header shows torch. The loss is a sum; the caller divides it by the weight of this batch, or
// of all ranks together. The logits never exist as a whole. Rows go through the output layer a few
// at a time, and their gradients are computed at once from the same logits (as in Hsu et al.,
// "Liger Kernel", 2024). So memory is rows_at_once x V, and no logit is computed twice. Nothing
// here waits for a GPU.
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
  // The part of that weight whose tokens were the most probable ones, float32.
  at::Tensor correct;
};

struct CausalLossOptions {
  // What logits and their gradients are computed and stored in: kFloat or kBFloat16.
  at::ScalarType compute = at::kFloat;
  // The rows of logits that exist at once. 0: 1,024 on a CPU, 8,192 on a GPU.
  std::int64_t rows_at_once = 0;
  // The vocabulary is filled up to a multiple of this number with tokens of probability 0, since
  // the matrix units of GPUs read aligned rows faster. 0: 1 on a CPU, 64 on a GPU.
  std::int64_t vocabulary_multiple = 0;
};

// hidden: [T, D], the last layer's output; embedding: [V, D], the tied output. weights: [T], the
// weight of token t as a target; empty means 1 for all. The first token of a sequence is not a
// target, so its weight is ignored; rows of weight 0 cost nothing. REQUIRES: sizes fit, weights are
// finite, the batch is valid, no option is negative.
CausalLoss ComputeCausalLoss(const at::Tensor& hidden, const at::Tensor& embedding,
                             const TokenBatch& batch, std::span<const float> weights,
                             const CausalLossOptions& options = {});

}  // namespace shoal::language
