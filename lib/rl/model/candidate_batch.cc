// SPDX-License-Identifier: Apache-2.0
#include "rl/model/candidate_batch.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <bit>
#include <map>

#include "rl/model/shape_bucket.h"

namespace shoal::model {
namespace {

std::int64_t CountOf(const std::vector<std::int64_t>& numbers) {
  return static_cast<std::int64_t>(numbers.size());
}

void Pad(std::int64_t number, std::vector<std::int64_t>& numbers) {
  numbers.resize(static_cast<std::size_t>(TermBucket(CountOf(numbers))), number);
}

std::vector<std::int64_t> Widen(std::span<const std::int32_t> numbers) {
  return {numbers.begin(), numbers.end()};
}

}  // namespace

CandidateBatch::CandidateBatch(const CandidateTable& catalog,
                               std::span<const CandidateBatchRow> rows, std::int64_t kinds,
                               DeviceBatch& arrays, std::int64_t padded)
    : catalog_size_(catalog.size()),
      rows_(padded > 0 ? padded : static_cast<std::int64_t>(rows.size())),
      width_(catalog.size()) {
  for (const CandidateBatchRow& row : rows) width_ = std::max(width_, row.table->size());
  if (padded > 0) width_ = catalog.size() + TermBucket(width_ - catalog.size());
  std::vector<std::int64_t> goals;
  std::vector<float> scales;
  std::vector<float> shifts;
  std::map<std::uint64_t, std::int64_t> firsts;
  std::int64_t own_candidates = 0;
  std::vector<std::int64_t> appended_places;
  std::vector<std::int64_t> appended_keys;
  std::vector<std::int64_t> appended_rows;
  std::vector<float> appended_similarities;
  std::vector<std::int64_t> mark_places;
  std::vector<std::int64_t> mark_sources;
  std::vector<std::int64_t> newly_removed;
  for (std::int64_t r = 0; r < static_cast<std::int64_t>(rows.size()); ++r) {
    const CandidateBatchRow& row = rows[static_cast<std::size_t>(r)];
    goals.push_back(row.goal);
    scales.push_back(row.scale);
    shifts.push_back(row.shift);
    if (!row.appended.empty()) {
      const auto [first, added] = firsts.try_emplace(row.table->id(), own_candidates);
      if (added) {
        overlays_.push_back(row.table);
        own_candidates += row.table->own_size();
      }
      for (std::size_t c = 0; c < row.appended.size(); ++c) {
        const auto candidate = static_cast<std::int64_t>(c);
        appended_places.push_back(r * width_ + catalog.size() + candidate);
        appended_keys.push_back(first->second + candidate);
        appended_rows.push_back(r);
        appended_similarities.push_back(row.scale * row.appended[c] + row.shift);
      }
    }
    for (const CandidateMark& mark : row.marks) {
      for (std::uint32_t bits = mark.bits; bits != 0; bits &= bits - 1) {
        mark_places.push_back(r * width_ + mark.candidate);
        mark_sources.push_back(r * kinds + std::countr_zero(bits));
      }
    }
    for (const std::int32_t removed : row.table->newly_removed()) {
      newly_removed.push_back(r * width_ + removed);
    }
  }
  if (padded > 0) {
    // What is added to numbers goes into the last row, which is none of the given ones.
    const std::int64_t spare = rows_ - 1;
    Pad(spare * width_, appended_places);
    Pad(0, appended_keys);
    Pad(spare, appended_rows);
    appended_similarities.resize(appended_rows.size());
    Pad(spare * width_, mark_places);
    Pad(spare * kinds, mark_sources);
    Pad(spare * width_, newly_removed);
  }
  const std::vector<std::int64_t> removed = Widen(catalog.removed());
  goal_ = arrays.Add(goals, rows_);
  scale_ = arrays.Add(scales, rows_);
  shift_ = arrays.Add(shifts, rows_);
  appended_ = {CountOf(appended_places), arrays.Add(appended_places), arrays.Add(appended_keys)};
  appended_row_ = arrays.Add(appended_rows);
  appended_similarity_ = arrays.Add(appended_similarities);
  marks_ = {CountOf(mark_places), arrays.Add(mark_places), arrays.Add(mark_sources)};
  removed_count_ = CountOf(removed);
  removed_ = arrays.Add(removed);
  newly_removed_count_ = CountOf(newly_removed);
  newly_removed_ = arrays.Add(newly_removed);
}

// Returns [R, width], or [1, width] where all rows have the same legal candidates.
at::Tensor CandidateBatch::Illegal(const DeviceBatch& arrays, at::Device device) const {
  at::Tensor illegal = at::zeros({1, width_}, at::TensorOptions(at::kBool).device(device));
  if (removed_count_ > 0) illegal.index_fill_(1, arrays.Get(removed_, {removed_count_}), true);
  if (width_ > catalog_size_) {
    illegal.narrow(1, catalog_size_, width_ - catalog_size_).fill_(true);
  }
  if (appended_.count == 0 && newly_removed_count_ == 0) return illegal;
  illegal = illegal.repeat({rows_, 1});
  at::Tensor flat = illegal.view({-1});
  if (appended_.count > 0) {
    flat.index_fill_(0, arrays.Get(appended_.place, {appended_.count}), false);
  }
  if (newly_removed_count_ > 0) {
    flat.index_fill_(0, arrays.Get(newly_removed_, {newly_removed_count_}), true);
  }
  return illegal;
}

at::Tensor CandidateBatch::AppendedKeys(const DeviceBatch& arrays, const KeysOf& keys) const {
  if (appended_.count == 0) return {};
  std::vector<at::Tensor> of_overlays;
  for (const CandidateTable* const overlay : overlays_) of_overlays.push_back(keys(*overlay));
  return at::cat(of_overlays).index_select(0, arrays.Get(appended_.source, {appended_.count}));
}

at::Tensor CandidateBatch::Logits(const DeviceBatch& arrays, const Inputs& inputs) const {
  const at::Tensor& queries = inputs.queries;
  const at::Tensor goal = arrays.Get(goal_, {rows_});
  const at::Tensor similarity = inputs.cosines.index_select(0, goal)
                                    .mul_(arrays.Get(scale_, {rows_, 1}))
                                    .add_(arrays.Get(shift_, {rows_, 1}));
  at::Tensor logits = at::mm(queries, inputs.keys.t()).add(similarity);
  if (width_ > catalog_size_) {
    logits = at::cat({logits, at::zeros({rows_, width_ - catalog_size_}, logits.options())}, 1);
  }
  if (appended_.count > 0) {
    const at::Tensor row = arrays.Get(appended_row_, {appended_.count});
    const at::Tensor products = queries.index_select(0, row).mul(inputs.appended_keys).sum(1);
    const at::Tensor place = arrays.Get(appended_.place, {appended_.count});
    logits =
        logits.flatten()
            .index_add(0, place, products.add(arrays.Get(appended_similarity_, {appended_.count})))
            .view({rows_, width_});
  }
  if (marks_.count > 0 && inputs.mark_weights.defined()) {
    const at::Tensor weights =
        inputs.mark_weights.flatten().index_select(0, arrays.Get(marks_.source, {marks_.count}));
    logits = logits.flatten()
                 .index_add(0, arrays.Get(marks_.place, {marks_.count}), weights)
                 .view({rows_, width_});
  }
  return logits.masked_fill(Illegal(arrays, queries.device()), kIllegalLogit);
}

}  // namespace shoal::model
