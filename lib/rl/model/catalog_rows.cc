// SPDX-License-Identifier: Apache-2.0
#include "rl/model/catalog_rows.h"

#include <ATen/ops/from_blob.h>

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <utility>

#include "rl/model/candidate_table_tensors.h"

namespace shoal::model {
namespace {

// Returns the base of an overlay, or the table itself when it has no base.
const std::shared_ptr<const CandidateTable>& CatalogOf(
    const std::shared_ptr<const CandidateTable>& table) {
  return table->base() == nullptr ? table : table->base();
}

// Returns the cosines of each row's goal with the catalog. Goals that the cache lacks are compared
// together.
std::vector<SimilarityCache::Row> CosinesOf(const CatalogRows& group, const PolicyInputs& inputs,
                                            const at::Tensor& goals, SimilarityCache& cache) {
  const CandidateTable& catalog = *group.catalog;
  const std::vector<std::int64_t>& rows = group.rows;
  const auto goal_key = [&](std::int64_t row) {
    return std::span(inputs.goal_keys).subspan(static_cast<std::size_t>(row) * 16, 16);
  };
  std::vector<SimilarityCache::Row> found;
  // `missing` holds one row for each goal to compare now; waits[i] is the index in it for row i.
  std::vector<std::int64_t> missing;
  std::map<std::string, std::size_t> places;
  std::vector<std::size_t> waits(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto key = goal_key(rows[i]);
    found.push_back(cache.Find(catalog, key));
    if (found.back() != nullptr) continue;
    const auto [place, added] =
        places.try_emplace(std::string(key.begin(), key.end()), missing.size());
    if (added) missing.push_back(rows[i]);
    waits[i] = place->second;
  }
  if (missing.empty()) return found;
  const at::Tensor which =
      at::from_blob(missing.data(), {static_cast<std::int64_t>(missing.size())}, at::kLong);
  const at::Tensor cosines = Cosines(catalog, goals.index_select(0, which));  // [g, N]
  std::vector<SimilarityCache::Row> made;
  for (std::size_t i = 0; i < missing.size(); ++i) {
    const auto values = RowOf(cosines, static_cast<std::int64_t>(i));
    made.push_back(std::make_shared<const GoalCosines>(
        GoalCosines{{values.begin(), values.end()}, CosineSums::Of(catalog, values)}));
    cache.Insert(catalog, goal_key(missing[i]), made.back());
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (found[i] == nullptr) found[i] = made[waits[i]];
  }
  return found;
}

}  // namespace

std::vector<CatalogRows> RowsByCatalog(const PolicySpec& spec, const PolicyInputs& inputs) {
  std::vector<CatalogRows> groups;
  std::map<std::uint64_t, std::size_t> places;
  for (std::int64_t row = 0; row < inputs.rows; ++row) {
    const auto r = static_cast<std::size_t>(row);
    if (inputs.choice[r] == Choice::kValueOnly && !spec.action_values) continue;
    const auto& catalog = CatalogOf(TableOf(inputs, row));
    const auto [place, added] = places.try_emplace(catalog->id(), groups.size());
    if (added) groups.push_back({catalog, {}});
    groups[place->second].rows.push_back(row);
  }
  return groups;
}

const std::shared_ptr<const CandidateTable>& TableOf(const PolicyInputs& inputs, std::int64_t row) {
  return inputs.tables[static_cast<std::size_t>(inputs.table[static_cast<std::size_t>(row)])];
}

std::vector<float> GoalSimilarity::Cosines() const {
  std::vector<float> all = goal->cosine;
  all.insert(all.end(), appended.begin(), appended.end());
  return all;
}

std::vector<GoalSimilarity> Similarities(const PolicySpec& spec, const CatalogRows& group,
                                         const PolicyInputs& inputs, const at::Tensor& goals,
                                         SimilarityCache& cache) {
  const auto weight = static_cast<float>(spec.similarity_weight);
  std::vector<GoalSimilarity> similarities;
  for (SimilarityCache::Row& goal : CosinesOf(group, inputs, goals, cache)) {
    const std::int64_t row = group.rows[similarities.size()];
    const CandidateTable& table = *TableOf(inputs, row);
    GoalSimilarity similarity{.goal = std::move(goal), .appended = {}};
    if (table.base() != nullptr) similarity.appended = OwnCosines(table, RowOf(goals, row));
    const Standardisation z =
        Standardise(table, similarity.goal->cosine, similarity.goal->sums, similarity.appended);
    similarity.scale = weight * z.scale;
    similarity.shift = weight * z.shift;
    similarities.push_back(std::move(similarity));
  }
  return similarities;
}

}  // namespace shoal::model
