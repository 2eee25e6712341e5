// SPDX-License-Identifier: Apache-2.0
// The embeddings of one catalog, or of a catalog with an overlay, ready for the pointer head.
//
// An overlay holds what it appends and removes and shares everything else with its base, so it
// costs only the memory that it adds. A table is immutable, and threads may share it. Keep one
// object for each catalog key, since keys and cosines are cached by object.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "platform/runtime/status.h"
#include "platform/runtime/tensor.h"

namespace at {
class Tensor;
}
namespace c10 {
struct Device;
}

namespace shoal::model {

class CandidateTable {
 public:
  // Makes a table from `embeddings`, FLOAT16 [M, D], in the order of the catalog. `removed` holds
  // indices below N that are illegal now; at least one candidate must stay legal. Without a `base`,
  // M is N and at least 1. A base must not have a base itself; its candidates come first,
  // `embeddings` are appended, and what the base removed stays removed. Goals are compared with the
  // first `similarity_size` numbers of each embedding: 1 to D, the same as the base's, or 0 for
  // all. Returns INVALID_ARGUMENT when an argument breaks these rules.
  static absl::StatusOr<std::shared_ptr<const CandidateTable>> Create(
      const runtime::Tensor& embeddings, std::span<const std::uint32_t> removed,
      std::shared_ptr<const CandidateTable> base = nullptr, std::int64_t similarity_size = 0);
  ~CandidateTable();

  // N: the number of candidates, removed ones included.
  std::int64_t size() const;
  // M: the number of candidates without the base's.
  std::int64_t own_size() const;
  // D: the length of an embedding.
  std::int64_t embedding_size() const;
  // The length of the prefix of an embedding that goals are compared with.
  std::int64_t similarity_size() const;
  std::int64_t legal_count() const;
  bool legal(std::int64_t candidate) const;
  // The illegal candidates, ascending.
  std::span<const std::int32_t> removed() const;
  // The candidates that this overlay removes beyond those of its base; empty without a base.
  std::span<const std::int32_t> newly_removed() const;
  // The base, or null when there is none.
  const std::shared_ptr<const CandidateTable>& base() const;
  // No two tables in the life of this process have the same id.
  std::uint64_t id() const;

  // The memory that is freed when the table is destroyed: its own candidates, the keys cached for
  // them and their copies on devices, without what belongs to its base. It grows when a policy
  // first acts on the table.
  std::size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

  // For folders that may see torch; candidate_table_tensors.h defines it.
  struct Tensors;
  const Tensors& tensors() const { return *tensors_; }

 private:
  friend class KeyCache;
  friend at::Tensor EmbeddingsOn(const CandidateTable& table, c10::Device device);
  struct KeySlots;

  explicit CandidateTable(std::unique_ptr<const Tensors> tensors);

  const std::unique_ptr<const Tensors> tensors_;
  const std::unique_ptr<KeySlots> keys_;
  // Relaxed order is enough: a reader needs only a recent value.
  mutable std::atomic<std::size_t> bytes_;
};

// Stands for minus infinity: its exponential is 0, and products with it stay finite.
inline constexpr float kIllegalLogit = -1e9F;

}  // namespace shoal::model
