// SPDX-License-Identifier: Apache-2.0
// Attention without padding over sequences of unequal lengths in one array.
//
// This header shows torch. On a CPU each sequence, or run of neighbours of one length, is one call
// of at::scaled_dot_product_attention (its fused kernel). On CUDA in half precision, causal
// attention in all sequences is one call of the flash kernel for variable lengths (Dao et al.,
// "FlashAttention", 2022).
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "text/language/token_batch.h"

namespace shoal::language {

// A TokenBatch in the form that a network on `device` needs.
struct PackedTokens {
  PackedTokens(const TokenBatch& batch, at::Device device);

  at::Tensor ids;                     // [T], int64
  at::Tensor positions;               // [T], int64: each token's position in its sequence
  std::vector<std::int64_t> lengths;  // [S]
  std::int64_t longest = 0;
  // [S + 1], int32, on CUDA; otherwise undefined.
  at::Tensor starts;
  // For each sequence [L, L], true where the row's token may attend to the column's. Empty without
  // TokenBatch::attended.
  std::vector<at::Tensor> masks;
};

// These functions return [T, D]. qkv is [T, 3 D]: query, key and value of each token side by side,
// heads within each.

// A token attends to itself and to earlier tokens of its sequence.
at::Tensor PackedAttention(const at::Tensor& qkv, const PackedTokens& tokens, std::int64_t heads);
// A token attends to all tokens of its sequence. REQUIRES: `tokens` has no masks.
at::Tensor PackedAttentionToAll(const at::Tensor& qkv, const PackedTokens& tokens,
                                std::int64_t heads);

}  // namespace shoal::language
