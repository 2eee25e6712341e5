// SPDX-License-Identifier: Apache-2.0
// Causal attention without padding over sequences of unequal lengths in one array.
//
// This header shows torch. On a CPU each sequence is one call of at::scaled_dot_product_attention
// (its fused kernel). On CUDA in half precision, all sequences are one call of the flash kernel for
// variable lengths (Dao et al., "FlashAttention", 2022).
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

// Returns [T, D]. qkv is [T, 3 D]: query, key and value of each token side by side, heads within
// each.
at::Tensor PackedAttention(const at::Tensor& qkv, const PackedTokens& tokens, std::int64_t heads);

}  // namespace shoal::language
