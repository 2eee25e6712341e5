// SPDX-License-Identifier: Apache-2.0
// The keys and values of one sequence's tokens, which grow with the sequence.
//
// This header shows torch. Not thread-safe.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "text/language/gpt2_config.h"

namespace shoal::language {

class KeyValues {
 public:
  // Allocates room for `capacity` tokens.
  KeyValues(const Gpt2Config& config, std::int64_t capacity, const at::TensorOptions& options);

  // The number of tokens that all blocks have processed.
  std::int64_t length() const { return length_; }
  std::int64_t capacity() const { return capacity_; }

  // Attention of block `block` for new tokens, [n, 3 D] to [n, D]: each token sees all tokens
  // before it. Stores their keys and values. REQUIRES: length() + n <= capacity().
  at::Tensor Attend(std::int64_t block, const at::Tensor& qkv);
  // Call it after all blocks have processed `count` new tokens.
  void Advance(std::int64_t count) { length_ += count; }

 private:
  const std::int64_t heads_;
  const std::int64_t capacity_;
  std::int64_t length_ = 0;
  // One tensor for each block: [2, 1, H, capacity, D / H].
  std::vector<at::Tensor> blocks_;
};

}  // namespace shoal::language
