// SPDX-License-Identifier: Apache-2.0
// The contents of a CandidateTable, for the folders that may see torch.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "platform/runtime/mutex.h"
#include "rl/model/candidate_table.h"

namespace shoal::model {

struct CandidateTable::Tensors {
  // The base of an overlay. Its candidates come first and are not in the tensors below.
  std::shared_ptr<const CandidateTable> base;
  at::Tensor embeddings;  // [M, D], binary16
  std::int64_t similarity_size = 0;
  at::Tensor inverse_norm;  // [M], float; the norm is of the compared numbers; 0 for a zero vector
  std::vector<std::int32_t> removed;
  std::vector<std::int32_t> newly_removed;
  std::int64_t legal_count = 0;
  std::uint64_t id = 0;
};

// The keys of a table's own candidates: one tensor [M, P] for each KeyCache that computed them.
struct CandidateTable::KeySlots {
  struct Slot {
    // It expires when the KeyCache is destroyed.
    std::weak_ptr<const void> cache;
    at::Tensor keys;
  };
  runtime::Mutex mutex;
  std::vector<Slot> slots ABSL_GUARDED_BY(mutex);
  // The embeddings on devices other than the CPU, one tensor for each device that asked.
  std::vector<at::Tensor> resident ABSL_GUARDED_BY(mutex);
};

// Returns the embeddings of the table's own candidates on `device`, [M, D], binary16. They are
// copied there once and stay as long as the table, whose bytes() counts them. Thread-safe. Throws
// what torch throws.
at::Tensor EmbeddingsOn(const CandidateTable& table, at::Device device);

// Returns the cosine of each goal with each of the table's own candidates: [G, M]. `goals` is [G,
// D] on the CPU; only the first similarity_size numbers of a goal count. Throws what torch throws.
at::Tensor Cosines(const CandidateTable& table, const at::Tensor& goals);

// The same for one goal [D].
std::vector<float> OwnCosines(const CandidateTable& table, std::span<const float> goal);

// Returns all numbers of a contiguous float tensor on the CPU.
std::span<float> FloatsOf(const at::Tensor& tensor);

// Returns row `row` of a contiguous float matrix on the CPU.
std::span<const float> RowOf(const at::Tensor& matrix, std::int64_t row);

}  // namespace shoal::model
