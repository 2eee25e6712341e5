// SPDX-License-Identifier: Apache-2.0
#include "text/language/key_values.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/scaled_dot_product_attention.h>

#include "platform/runtime/check.h"

namespace shoal::language {

KeyValues::KeyValues(const Gpt2Config& config, std::int64_t capacity,
                     const at::TensorOptions& options)
    : heads_(config.heads), capacity_(capacity) {
  for (std::int64_t block = 0; block < config.layers; ++block) {
    blocks_.push_back(at::empty({2, 1, heads_, capacity, config.head_size()}, options));
  }
}

at::Tensor KeyValues::Attend(std::int64_t block, const at::Tensor& qkv) {
  const std::int64_t count = qkv.size(0);
  const std::int64_t width = qkv.size(1) / 3;
  SHOAL_CHECK(length_ + count <= capacity_);
  // [3, 1, H, n, D / H]
  const at::Tensor parts =
      qkv.view({count, 3, heads_, width / heads_}).permute({1, 2, 0, 3}).unsqueeze(1);
  const at::Tensor& kept = blocks_[static_cast<std::size_t>(block)];
  kept.narrow(3, length_, count).copy_(parts.narrow(0, 1, 2));
  const at::Tensor seen = kept.narrow(3, 0, length_ + count);
  std::optional<at::Tensor> mask;
  if (length_ > 0 && count > 1) {
    const auto options = at::TensorOptions(qkv.device()).dtype(at::kLong);
    mask = at::arange(length_ + count, options)
               .unsqueeze(0)
               .le(at::arange(length_, length_ + count, options).unsqueeze(1));
  }
  return at::scaled_dot_product_attention(parts[0], seen[0], seen[1], mask, 0.0,
                                          /*is_causal=*/length_ == 0 && count > 1)
      .squeeze(0)
      .transpose(0, 1)
      .reshape({count, width});
}

}  // namespace shoal::language
