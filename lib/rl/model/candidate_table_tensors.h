// SPDX-License-Identifier: Apache-2.0
// What a CandidateTable holds, for the folders that may see torch.
//
// The candidates of a table come in blocks: those of its base, where it has one, and its own. What
// is computed over all candidates is computed block by block, into one row of N numbers.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "platform/runtime/mutex.h"
#include "rl/model/candidate_table.h"

namespace shoal::model {

struct CandidateTable::Tensors {
  // Set for an overlay; the base's candidates come first and are not in the tensors below.
  std::shared_ptr<const CandidateTable> base;
  at::Tensor embeddings;    // [M, D], float
  at::Tensor compared;      // [M, similarity size], a view of them
  at::Tensor inverse_norm;  // [M], float, of what is compared; 0 for a zero vector
  // Indices of the illegal candidates, the base's included; ascending, without repeats.
  std::vector<std::int64_t> removed;
  std::int64_t count = 0;  // N
  std::uint64_t id = 0;
};

// The keys of a table's own candidates, one tensor [M, P] for each KeyCache that was asked.
struct CandidateTable::KeySlots {
  struct Slot {
    // Expires with the KeyCache.
    std::weak_ptr<const void> cache;
    at::Tensor keys;
  };
  runtime::Mutex mutex;
  std::vector<Slot> slots ABSL_GUARDED_BY(mutex);
};

// One or two matrices whose rows, one after the other, are a table's candidates.
using Blocks = std::vector<at::Tensor>;

// The embeddings, [*, D] each. Nothing is copied.
Blocks EmbeddingBlocks(const CandidateTable& table);

// Adds queries [R, P] times the transposed blocks [*, P] to `products` [R, N].
void AddProducts(const at::Tensor& queries, const Blocks& blocks, at::Tensor& products);

// Writes weights [R, N] times the blocks [*, P] to `sums` [R, P].
void MultiplyInto(const at::Tensor& weights, const Blocks& blocks, at::Tensor& sums);

// Writes `value` where a candidate is removed; `values` is [R, N].
void FillRemoved(const CandidateTable& table, double value, at::Tensor& values);

// Cosine of each goal with each of the table's own candidates, [G, M]. `goals` is [G, D], of which
// the first similarity_size numbers count. Throws what torch throws.
at::Tensor OwnCosines(const CandidateTable& table, const at::Tensor& goals);

// Cosine of each goal with each candidate, standardised over the legal ones (zeros when they are
// all equal): [G, N], kIllegalLogit where removed. `goals` as above. Throws what torch throws.
at::Tensor StandardisedSimilarity(const CandidateTable& table, const at::Tensor& goals);

}  // namespace shoal::model
