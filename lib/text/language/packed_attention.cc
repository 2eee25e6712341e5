// SPDX-License-Identifier: Apache-2.0
#include "text/language/packed_attention.h"

#include <ATen/ops/_flash_attention_forward.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/tril.h>

#include <algorithm>
#include <cstring>
#include <tuple>

#include "rl/model/torch_device.h"

namespace shoal::language {
namespace {

at::Tensor MaskOf(const TokenBatch& batch, std::int64_t sequence, at::Device device) {
  const std::int64_t length = batch.length(sequence);
  const std::int64_t start = batch.starts[static_cast<std::size_t>(sequence)];
  const at::Tensor attended =
      at::from_blob(const_cast<std::uint8_t*>(batch.attended.data()) + start, {length}, at::kByte)
          .to(at::kBool);
  const at::Tensor itself = at::eye(length, at::kBool);
  return at::ones({length, length}, at::kBool)
      .tril()
      .logical_and(attended)
      .logical_or(itself)
      .to(device);
}

// Maps one sequence [L, 3 D] to [L, D].
at::Tensor SequenceAttention(const at::Tensor& qkv, const at::Tensor& mask, std::int64_t heads) {
  const std::int64_t length = qkv.size(0);
  const std::int64_t width = qkv.size(1) / 3;
  // [3, 1, H, L, D / H]
  const at::Tensor parts =
      qkv.view({length, 3, heads, width / heads}).permute({1, 2, 0, 3}).unsqueeze(1);
  // The backward pass of one split writes each gradient once; three selections would each write a
  // whole tensor of zeros, and add it.
  const std::vector<at::Tensor> split = parts.unbind(0);
  const std::optional<at::Tensor> given = mask.defined() ? std::optional(mask) : std::nullopt;
  return at::scaled_dot_product_attention(split[0], split[1], split[2], given, 0.0,
                                          /*is_causal=*/!mask.defined())
      .squeeze(0)
      .transpose(0, 1)
      .reshape({length, width});
}

at::Tensor FlashAttention(const at::Tensor& qkv, const PackedTokens& tokens, std::int64_t heads) {
  const std::int64_t count = qkv.size(0);
  const std::int64_t width = qkv.size(1) / 3;
  const std::vector<at::Tensor> parts = qkv.view({count, 3, heads, width / heads}).unbind(1);
  const auto out = at::_flash_attention_forward(parts[0], parts[1], parts[2], tokens.starts,
                                                tokens.starts, tokens.longest, tokens.longest, 0.0,
                                                /*is_causal=*/true, /*return_debug_mask=*/false);
  return std::get<0>(out).reshape({count, width});
}

}  // namespace

PackedTokens::PackedTokens(const TokenBatch& batch, at::Device device) {
  const std::vector<std::int64_t> all_ids(batch.ids.begin(), batch.ids.end());
  std::vector<std::int64_t> all_positions;
  all_positions.reserve(all_ids.size());
  for (std::int64_t s = 0; s < batch.sequences(); ++s) {
    const std::int64_t length = batch.length(s);
    for (std::int64_t i = 0; i < length; ++i) all_positions.push_back(i);
    lengths.push_back(length);
    longest = std::max(longest, length);
    if (!batch.attended.empty()) masks.push_back(MaskOf(batch, s, device));
  }
  model::DeviceBatch arrays(device);
  const auto id_array = arrays.Add(std::span<const std::int64_t>(all_ids));
  const auto position_array = arrays.Add(std::span<const std::int64_t>(all_positions));
  const auto start_array = arrays.Add(std::span<const std::int64_t>(batch.starts));
  arrays.Send();
  ids = arrays.Get(id_array, {batch.tokens()});
  positions = arrays.Get(position_array, {batch.tokens()});
  if (device.is_cuda()) {
    starts = arrays.Get(start_array, {batch.sequences() + 1}).to(at::kInt);
  }
}

at::Tensor PackedAttention(const at::Tensor& qkv, const PackedTokens& tokens, std::int64_t heads) {
  const bool half = qkv.scalar_type() == at::kBFloat16 || qkv.scalar_type() == at::kHalf;
  if (qkv.is_cuda() && half && tokens.masks.empty()) return FlashAttention(qkv, tokens, heads);
  // A single split for all sequences: its backward pass writes each gradient once, whereas slices
  // would add a tensor of zeros as large as the whole batch for every sequence.
  const std::vector<at::Tensor> sequences = qkv.split_with_sizes(tokens.lengths);
  std::vector<at::Tensor> outputs;
  outputs.reserve(sequences.size());
  for (std::size_t s = 0; s < sequences.size(); ++s) {
    outputs.push_back(SequenceAttention(
        sequences[s], tokens.masks.empty() ? at::Tensor() : tokens.masks[s], heads));
  }
  return outputs.size() == 1 ? outputs[0] : at::cat(outputs);
}

at::Tensor PackedAttentionToAll(const at::Tensor& qkv, const PackedTokens& tokens,
                                std::int64_t heads) {
  const std::int64_t width = qkv.size(1) / 3;
  std::vector<at::Tensor> outputs;
  std::int64_t begin = 0;
  for (std::size_t first = 0; first < tokens.lengths.size();) {
    const std::int64_t length = tokens.lengths[first];
    std::size_t last = first;
    while (last < tokens.lengths.size() && tokens.lengths[last] == length) ++last;
    const auto count = static_cast<std::int64_t>(last - first);
    // [3, B, H, L, D / H]
    const at::Tensor parts = qkv.narrow(0, begin, count * length)
                                 .view({count, length, 3, heads, width / heads})
                                 .permute({2, 0, 3, 1, 4});
    outputs.push_back(at::scaled_dot_product_attention(parts[0], parts[1], parts[2])
                          .transpose(1, 2)
                          .reshape({count * length, width}));
    begin += count * length;
    first = last;
  }
  return outputs.size() == 1 ? outputs[0] : at::cat(outputs);
}

}  // namespace shoal::language
