// SPDX-License-Identifier: Apache-2.0
// A cache, kept between batches, of the similarity of goals to the candidates of a catalog.
//
// The policy adds similarity_weight * z to a candidate's logit, where z is the cosine of goal and
// candidate, standardised over the legal candidates of the row's table. The cosines depend on the
// catalog and the goal alone, so an overlay shares those of its base and adds only the cosines of
// its own candidates. Standardising needs one factor and one constant for each table and goal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "rl/model/candidate_table.h"

namespace shoal::model {

// Sums of one goal's cosines over the legal candidates of a table without a base.
struct CosineSums {
  double sum = 0;
  double squares = 0;

  // REQUIRES: `table` has no base and as many candidates as there are cosines.
  static CosineSums Of(const CandidateTable& table, std::span<const float> cosine);
};

// The cosines of one goal with the candidates of a table without a base.
struct GoalCosines {
  std::vector<float> cosine;  // [N]
  CosineSums sums;
};

// z = scale * cosine + shift.
struct Standardisation {
  float scale = 0;
  float shift = 0;
};

// Standardises over the legal candidates of `table`: mean 0 and deviation 1, or all zeros where the
// cosines are equal. `catalog` and `sums` are the goal's cosines with the table's base, or with the
// table itself when it has none. `appended` [M] holds its cosines with an overlay's own candidates.
Standardisation Standardise(const CandidateTable& table, std::span<const float> catalog,
                            const CosineSums& sums, std::span<const float> appended);

// Keeps GoalCosines by catalog and goal. When the entries exceed the byte limit, the least recently
// used ones are evicted. Not thread-safe: each thread has its own cache.
class SimilarityCache {
 public:
  explicit SimilarityCache(std::size_t max_bytes = std::size_t{256} << 20);
  ~SimilarityCache();
  SimilarityCache(const SimilarityCache&) = delete;
  SimilarityCache& operator=(const SimilarityCache&) = delete;

  using Row = std::shared_ptr<const GoalCosines>;
  // Returns null when the pair is absent. `goal_key` has 16 bytes.
  Row Find(const CandidateTable& catalog, std::span<const std::uint8_t> goal_key);
  void Insert(const CandidateTable& catalog, std::span<const std::uint8_t> goal_key, Row row);

  std::size_t bytes() const;
  std::uint64_t hits() const;
  std::uint64_t misses() const;

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace shoal::model
