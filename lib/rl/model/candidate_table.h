// SPDX-License-Identifier: Apache-2.0
// The embeddings of one catalog, or of a catalog with an overlay, ready for the pointer head.
//
// An overlay holds what it appends and removes, and shares everything else with its base: it costs
// what it adds. Immutable and shared between threads; keep one object for each catalog key, since
// keys and cosines are cached by object.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "platform/runtime/status.h"
#include "platform/runtime/tensor.h"

namespace shoal::model {

class CandidateTable {
 public:
  // `embeddings`: FLOAT16 [M, D] in the order of the catalog. `removed`: indices below N that are
  // illegal now; at least one candidate stays legal. Without a `base` M is N, and at least 1. A
  // base has no base itself; its candidates come first, these are appended, and what the base
  // removed stays removed. Goals are compared with the first `similarity_size` numbers of each
  // embedding, 1 to D and the same as the base's; 0 means all. INVALID_ARGUMENT otherwise.
  static absl::StatusOr<std::shared_ptr<const CandidateTable>> Create(
      const runtime::Tensor& embeddings, std::span<const std::uint32_t> removed,
      std::shared_ptr<const CandidateTable> base = nullptr, std::int64_t similarity_size = 0);
  ~CandidateTable();

  // N, removed candidates included.
  std::int64_t size() const;
  // M: without the base's candidates.
  std::int64_t own_size() const;
  // D.
  std::int64_t embedding_size() const;
  // How many of the D numbers goals are compared with.
  std::int64_t similarity_size() const;
  std::int64_t legal_count() const;
  bool legal(std::int64_t candidate) const;
  // The illegal candidates, ascending.
  std::span<const std::int32_t> removed() const;
  // Those of them that an overlay removes from what its base leaves; none without a base.
  std::span<const std::int32_t> newly_removed() const;
  // Null without one.
  const std::shared_ptr<const CandidateTable>& base() const;
  // Different for any two tables of this process's life.
  std::uint64_t id() const;

  // Memory that comes back when the table goes: its own candidates and the keys that are cached
  // for them, without what is its base's. It grows when a policy first acts on the table.
  std::size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

  // For folders that may see torch: candidate_table_tensors.h.
  struct Tensors;
  const Tensors& tensors() const { return *tensors_; }

 private:
  friend class KeyCache;
  struct KeySlots;

  explicit CandidateTable(std::unique_ptr<const Tensors> tensors);

  const std::unique_ptr<const Tensors> tensors_;
  const std::unique_ptr<KeySlots> keys_;
  // Relaxed: a reader needs no more than a recent value.
  mutable std::atomic<std::size_t> bytes_;
};

// What stands for minus infinity: its exponential is 0, and products with it stay finite.
inline constexpr float kIllegalLogit = -1e9F;

}  // namespace shoal::model
