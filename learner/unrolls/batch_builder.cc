// SPDX-License-Identifier: Apache-2.0
#include "learner/unrolls/batch_builder.h"

#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "rl/estimators/priorities.h"

namespace shoal::learner {
namespace {

using algorithms::UnrollBatch;

std::size_t Size(std::int64_t count) { return static_cast<std::size_t>(count); }

// Copies the rows of `from` ([rows, width]) into column `b` of `to` ([*, B, width]).
template <typename T>
void Scatter(const std::vector<T>& from, std::size_t width, std::size_t b, std::size_t columns,
             std::vector<T>& to) {
  if (width == 0) return;
  for (std::size_t row = 0; row * width < from.size(); ++row) {
    std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(row * width), width,
                to.begin() + static_cast<std::ptrdiff_t>((row * columns + b) * width));
  }
}

void Allocate(const model::PolicySpec& spec, bool masked, UnrollBatch& batch) {
  const std::size_t steps = Size(batch.length * batch.columns);
  const std::size_t rows = Size((batch.length + 1) * batch.columns);
  batch.observation.resize(rows * Size(spec.number_count()));
  batch.frames.resize(rows * Size(spec.frame_size()));
  if (spec.has_candidates()) {
    batch.content_index.assign(rows * Size(spec.content_count()), -1);
    batch.catalog.resize(rows);
    if (spec.past_requests) {
      batch.past_requests.resize(Size(batch.columns * spec.embedding_size));
    }
  } else if (masked) {
    batch.legal.assign(rows * Size(spec.action_count), 1);
  }
  batch.core_state.resize(Size(batch.columns * spec.core_state_size()));
  if (spec.has_box()) {
    batch.box_action.resize(steps * Size(spec.action_count));
  } else {
    batch.action.resize(steps);
  }
  batch.behaviour_log_probability.resize(steps);
  batch.reward.resize(steps);
  batch.value.resize(rows);
  batch.flags.resize(rows);
  batch.weight.resize(steps);
  batch.staleness.resize(steps);
}

// Gives each shared content and catalog one place in the batch.
class Merger {
 public:
  explicit Merger(UnrollBatch& batch) : batch_(batch) {}

  std::vector<std::int32_t> ContentIndex(const DecodedUnroll& unroll) {
    std::vector<std::int32_t> places;
    for (std::size_t i = 0; i < unroll.contents.size(); ++i) {
      const auto [found, added] = contents_.try_emplace(unroll.content_keys[i], next_content_);
      if (added) {
        ++next_content_;
        const auto& vector = *unroll.contents[i];
        batch_.embeddings.insert(batch_.embeddings.end(), vector.begin(), vector.end());
      }
      places.push_back(found->second);
    }
    std::vector<std::int32_t> merged(unroll.content_index);
    for (std::int32_t& index : merged) {
      if (index >= 0) index = places[static_cast<std::size_t>(index)];
    }
    return merged;
  }

  std::vector<std::int32_t> Catalog(const DecodedUnroll& unroll) {
    std::vector<std::int32_t> places;
    for (const auto& table : unroll.tables) {
      const auto [found, added] =
          tables_.try_emplace(table.get(), static_cast<std::int32_t>(batch_.tables.size()));
      if (added) batch_.tables.push_back(table);
      places.push_back(found->second);
    }
    std::vector<std::int32_t> merged(unroll.catalog);
    for (std::int32_t& index : merged) index = places[static_cast<std::size_t>(index)];
    return merged;
  }

 private:
  UnrollBatch& batch_;
  std::int32_t next_content_ = 0;
  absl::flat_hash_map<content::ContentKey, std::int32_t, content::ContentKeyHash> contents_;
  absl::flat_hash_map<const model::CandidateTable*, std::int32_t> tables_;
};

std::vector<std::int64_t> Staleness(const DecodedUnroll& unroll,
                                    const parameters::Version& current) {
  std::vector<std::int64_t> staleness;
  for (const parameters::Version& acted : unroll.acted) {
    const auto now = static_cast<std::int64_t>(current.step);
    staleness.push_back(acted.epoch == current.epoch
                            ? std::max<std::int64_t>(0, now - static_cast<std::int64_t>(acted.step))
                            : now + 1);
  }
  return staleness;
}

void AddColumn(const model::PolicySpec& spec, const DecodedUnroll& unroll, std::size_t b,
               const parameters::Version& current, Merger& merger, UnrollBatch& batch) {
  const std::size_t columns = Size(batch.columns);
  Scatter(unroll.observation, Size(spec.number_count()), b, columns, batch.observation);
  Scatter(unroll.frames, Size(spec.frame_size()), b, columns, batch.frames);
  if (spec.has_candidates()) {
    Scatter(merger.ContentIndex(unroll), Size(spec.content_count()), b, columns,
            batch.content_index);
    Scatter(merger.Catalog(unroll), 1, b, columns, batch.catalog);
    Scatter(unroll.past_requests, unroll.past_requests.size(), b, columns, batch.past_requests);
  } else {
    Scatter(unroll.legal, Size(spec.action_count), b, columns, batch.legal);
  }
  Scatter(unroll.core_state, unroll.core_state.size(), b, columns, batch.core_state);
  Scatter(unroll.action, 1, b, columns, batch.action);
  Scatter(unroll.box_action, Size(spec.action_count), b, columns, batch.box_action);
  Scatter(unroll.behaviour_log_probability, 1, b, columns, batch.behaviour_log_probability);
  Scatter(unroll.reward, 1, b, columns, batch.reward);
  Scatter(unroll.value, 1, b, columns, batch.value);
  Scatter(unroll.flags, 1, b, columns, batch.flags);
  Scatter(unroll.weight, 1, b, columns, batch.weight);
  Scatter(Staleness(unroll, current), 1, b, columns, batch.staleness);
}

// Puts the marks of all unrolls into the order of the batch's rows, [T+1, B]. A row of padding has
// none.
void MergeMarks(std::span<const DecodedUnroll> unrolls, UnrollBatch& batch) {
  for (std::int64_t t = 0; t <= batch.length; ++t) {
    for (const DecodedUnroll& unroll : unrolls) {
      const auto row = static_cast<std::size_t>(t);
      batch.marks.Add(row < unroll.marks.rows() ? unroll.marks.Row(row)
                                                : std::span<const model::CandidateMark>());
    }
  }
}

}  // namespace

UnrollBatch BuildBatch(const model::PolicySpec& spec, std::span<const DecodedUnroll> unrolls,
                       const parameters::Version& current, double importance_exponent) {
  UnrollBatch batch;
  bool masked = false;
  for (const DecodedUnroll& unroll : unrolls) {
    batch.length = std::max(batch.length, unroll.length);
    masked = masked || !unroll.legal.empty();
  }
  batch.columns = static_cast<std::int64_t>(unrolls.size());
  if (unrolls.empty()) {
    batch.length = 1;
    return batch;
  }
  Allocate(spec, masked, batch);
  Merger merger(batch);
  for (std::size_t b = 0; b < unrolls.size(); ++b) {
    batch.lengths.push_back(unrolls[b].length);
    if (unrolls[b].group) batch.group.push_back(*unrolls[b].group);
    batch.importance.push_back(static_cast<float>(estimators::ImportanceWeight(
        unrolls[b].probability, unrolls[b].least_probability, importance_exponent)));
    AddColumn(spec, unrolls[b], b, current, merger, batch);
  }
  if (batch.group.size() < unrolls.size()) batch.group.clear();
  if (spec.candidate_marks > 0) MergeMarks(unrolls, batch);
  return batch;
}

}  // namespace shoal::learner
