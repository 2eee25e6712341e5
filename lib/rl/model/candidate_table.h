// SPDX-License-Identifier: Apache-2.0
// The embeddings of one catalog (or of a catalog with an overlay), ready for the pointer head, and
// a cache of how similar they are to goals.
//
// A CandidateTable is immutable and shared between threads; keep one object per catalog key, since
// keys and similarities are cached by object. SimilarityCache is not thread-safe: one a thread.
#pragma once

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
  // `embeddings` FLOAT16 [M, D] in the order of the catalog; `removed`: indices that are illegal
  // now, each < N, at least one candidate staying legal. Without a `base` M is N, at least 1. With
  // one, which has none itself, these come after its candidates, and what was made of those is
  // shared: an overlay costs what it adds. Goals are compared with the first `similarity_size`
  // numbers of each, 1 to D and the same as the base's; 0: all.
  static absl::StatusOr<std::shared_ptr<const CandidateTable>> Create(
      const runtime::Tensor& embeddings, std::span<const std::uint32_t> removed,
      std::shared_ptr<const CandidateTable> base = nullptr, std::int64_t similarity_size = 0);
  ~CandidateTable();

  // N, removed candidates included.
  std::int64_t size() const;
  // D.
  std::int64_t embedding_size() const;
  // Of D, those that goals are compared with: the first so many.
  std::int64_t similarity_size() const;
  std::int64_t legal_count() const;
  bool legal(std::int64_t candidate) const;
  // Different for any two tables of this process's life.
  std::uint64_t id() const;

  // For folders that may see torch: candidate_table_tensors.h.
  struct Tensors;
  const Tensors& tensors() const { return *tensors_; }

 private:
  explicit CandidateTable(std::unique_ptr<const Tensors> tensors);
  const std::unique_ptr<const Tensors> tensors_;
};

// Standardised cosine of each candidate of a table with a goal, removed candidates at
// kIllegalLogit; least recently used pairs leave when the bytes run out.
class SimilarityCache {
 public:
  explicit SimilarityCache(std::size_t max_bytes = std::size_t{256} << 20);
  ~SimilarityCache();
  SimilarityCache(const SimilarityCache&) = delete;
  SimilarityCache& operator=(const SimilarityCache&) = delete;

  using Row = std::shared_ptr<const std::vector<float>>;
  // `goal_key` 16 bytes; null when absent.
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
