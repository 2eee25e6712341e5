// SPDX-License-Identifier: Apache-2.0
// What a CandidateTable holds, for the folders that may see torch.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>

#include "rl/model/candidate_table.h"

namespace shoal::model {

struct CandidateTable::Tensors {
  // Of an overlay: its candidates come first, and are not in the two tensors below.
  std::shared_ptr<const CandidateTable> base;
  at::Tensor embeddings;    // [M, D], float
  at::Tensor compared;      // [M, similarity size], a view of them
  at::Tensor inverse_norm;  // [M], float, of what is compared; 0 for a zero vector
  at::Tensor illegal;       // [N], bool; undefined when all are legal
  std::int64_t legal_count = 0;
  std::uint64_t id = 0;
};

// All candidates' embeddings: [N, D]. Copied for an overlay that adds any.
at::Tensor Embeddings(const CandidateTable& table);

// Cosine of each goal with each candidate, standardised over the legal ones (zeros when they are
// all equal): [G, N], kIllegalLogit where removed. `goals` [G, D], of which the table's first
// similarity_size numbers count. Throws what torch throws.
at::Tensor StandardisedSimilarity(const CandidateTable& table, const at::Tensor& goals);

}  // namespace shoal::model
