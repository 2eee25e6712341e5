// SPDX-License-Identifier: Apache-2.0
// The embeddings of one catalog (or of a catalog with an overlay), ready for the pointer head, and
// a cache of how similar they are to goals.
//
// An overlay's table holds what the overlay adds and removes, and shares its base's table: nothing
// that is made of an overlay is as long as the base, neither keys nor similarities nor legality.
//
// A CandidateTable is immutable to its users and shared between threads; keep one object per
// catalog key, since keys and similarities are cached by object. SimilarityCache is not
// thread-safe: each thread has its own.
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
  // `embeddings` FLOAT16 [M, D] in the order of the catalog. `removed` names the candidates that
  // are illegal now, each < N; at least one candidate must stay legal. Without a `base`, M is N and
  // at least 1. With a `base`, which must not be an overlay itself, the given candidates follow the
  // base's, and N counts both. A goal is compared with the first `similarity_size` numbers of each
  // embedding, which is 1 to D and the same as the base's; 0 stands for all of them.
  static absl::StatusOr<std::shared_ptr<const CandidateTable>> Create(
      const runtime::Tensor& embeddings, std::span<const std::uint32_t> removed,
      std::shared_ptr<const CandidateTable> base = nullptr, std::int64_t similarity_size = 0);
  ~CandidateTable();

  // N, removed candidates included.
  std::int64_t size() const;
  // D.
  std::int64_t embedding_size() const;
  // How many of the first numbers of an embedding are compared with a goal.
  std::int64_t similarity_size() const;
  std::int64_t legal_count() const;
  bool legal(std::int64_t candidate) const;
  // Different for any two tables of this process's life.
  std::uint64_t id() const;

  // Memory that comes back when the table goes: its own candidates and the keys that are cached
  // for them. The base's is not part of it. Grows when a policy first acts on the table.
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

// How each of a table's own candidates compares with one goal. The base of an overlay has cosines
// of its own.
struct Cosines {
  std::vector<float> values;
  double sum = 0;
  double square_sum = 0;
};

// The cosines of tables with goals. Pairs that were not used for longest leave when the bytes run
// out; a pair that does not fit alone is not kept.
class SimilarityCache {
 public:
  explicit SimilarityCache(std::size_t max_bytes = std::size_t{256} << 20);
  ~SimilarityCache();
  SimilarityCache(const SimilarityCache&) = delete;
  SimilarityCache& operator=(const SimilarityCache&) = delete;

  using Row = std::shared_ptr<const Cosines>;
  // `goal_key` has 16 bytes. Null when the pair is absent.
  Row Find(const CandidateTable& table, std::span<const std::uint8_t> goal_key);
  void Insert(const CandidateTable& table, std::span<const std::uint8_t> goal_key, Row row);

  std::size_t bytes() const;
  std::uint64_t hits() const;
  std::uint64_t misses() const;

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

// What stands for minus infinity: its exponential is 0, and products with it stay finite.
inline constexpr float kIllegalLogit = -1e9F;

}  // namespace shoal::model
