// SPDX-License-Identifier: Apache-2.0
// The rows of a batch by the catalog whose candidates they choose among, and how similar the goals
// of these rows are to the candidates.
//
// This header shows torch and is for this folder only. Functions throw what torch throws.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "rl/model/candidate_table.h"
#include "rl/model/policy.h"
#include "rl/model/policy_spec.h"
#include "rl/model/similarity_cache.h"

namespace shoal::model {

// The rows that choose among the candidates of one catalog, with or without an overlay.
struct CatalogRows {
  std::shared_ptr<const CandidateTable> catalog;
  std::vector<std::int64_t> rows;
};

// Leaves out rows that neither choose nor are asked for action values. REQUIRES: CheckInputs
// accepted `inputs`, as in the next functions.
std::vector<CatalogRows> RowsByCatalog(const PolicySpec& spec, const PolicyInputs& inputs);

// Returns the table of a row.
const std::shared_ptr<const CandidateTable>& TableOf(const PolicyInputs& inputs, std::int64_t row);

// How similar a row's goal is to the row's candidates: scale * cosine + shift is added to a logit.
struct GoalSimilarity {
  // With the candidates of the catalog.
  SimilarityCache::Row goal;
  // The cosines with the candidates that an overlay appends; empty without an overlay.
  std::vector<float> appended;
  float scale = 0;
  float shift = 0;

  // Returns the cosines with all candidates of the row.
  std::vector<float> Cosines() const;
};

// Returns the similarity of each of the group's rows. Goals that the cache lacks are compared
// together. `goals` is [B, D] on the CPU.
std::vector<GoalSimilarity> Similarities(const PolicySpec& spec, const CatalogRows& group,
                                         const PolicyInputs& inputs, const at::Tensor& goals,
                                         SimilarityCache& cache);

}  // namespace shoal::model
