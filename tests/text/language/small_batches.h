// SPDX-License-Identifier: Apache-2.0
// Batches of weighted tokens for a small GPT-2, their parts for ranks, and how far two models are
// apart.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "tests/text/language/small_gpt2.h"
#include "text/language/gpt2_layout.h"
#include "text/language/weighted_batch.h"

namespace shoal::language {

// Returns sequences of unequal lengths, in which a third of the tokens have no weight.
inline WeightedBatch Batch(std::uint64_t seed, std::size_t sequences = 6) {
  WeightedBatch batch;
  for (std::size_t i = 0; i < sequences; ++i) {
    batch.tokens.Append(SomeIds(5 + 4 * i, seed + 100 * i));
  }
  for (std::size_t i = 0; i < batch.tokens.ids.size(); ++i) {
    batch.weights.push_back(i % 3 == seed % 3 ? 0.0F : 1.0F);
  }
  return batch;
}

// Returns every `count`-th sequence from `first` on.
inline WeightedBatch Share(const WeightedBatch& batch, std::size_t first, std::size_t count) {
  WeightedBatch share;
  for (std::size_t s = first; s + 1 < batch.tokens.starts.size(); s += count) {
    const auto begin = batch.tokens.starts[s];
    const auto end = batch.tokens.starts[s + 1];
    share.tokens.Append(
        std::span(batch.tokens.ids)
            .subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)));
    share.weights.insert(share.weights.end(), batch.weights.begin() + begin,
                         batch.weights.begin() + end);
  }
  return share;
}

// Leaves out the biases of keys: they move all logits of a query alike and so change nothing. Their
// gradient is only rounding, which AdamW turns into whole steps.
inline double LargestDifference(const Gpt2Parameters& a, const Gpt2Parameters& b) {
  double largest = 0;
  const std::int64_t width = a.config.width;
  for (const auto& info : Gpt2Layout(a.config).parameters) {
    const bool biases = info.name.ends_with("attn.c_attn.bias");
    for (std::int64_t i = 0; i < info.size; ++i) {
      if (biases && i / width == 1) continue;
      const auto at = static_cast<std::size_t>(info.offset + i);
      largest = std::max(largest, std::abs(static_cast<double>(a.flat[at]) - b.flat[at]));
    }
  }
  return largest;
}

}  // namespace shoal::language
