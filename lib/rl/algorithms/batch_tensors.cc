// SPDX-License-Identifier: Apache-2.0
#include "rl/algorithms/batch_tensors.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "rl/model/candidate_table_tensors.h"
#include "rl/model/similarity_cache.h"
#include "rl/model/torch_device.h"

namespace shoal::algorithms {
namespace {

at::Tensor Copy(const std::vector<float>& values, at::IntArrayRef shape) {
  return at::from_blob(const_cast<float*>(values.data()), shape, at::kFloat).clone();
}

at::Tensor Observations(const UnrollBatch& batch, const model::PolicySpec& spec,
                        std::int64_t rows) {
  if (!spec.has_convolution()) return Copy(batch.observation, {rows, spec.observation_size});
  auto* const bytes = const_cast<std::uint8_t*>(batch.frames.data());
  return at::from_blob(bytes, {rows, spec.frame_size()}, at::kByte).clone();
}

at::Tensor Embeddings(const UnrollBatch& batch, std::int64_t size) {
  const std::int64_t count = static_cast<std::int64_t>(batch.embeddings.size()) / size;
  at::Tensor embeddings = at::zeros({count + 1, size}, at::kFloat);
  if (count > 0) {
    auto* const halves = const_cast<std::uint16_t*>(batch.embeddings.data());
    embeddings.narrow(0, 0, count).copy_(at::from_blob(halves, {count, size}, at::kHalf));
  }
  return embeddings;
}

std::vector<at::Tensor> Contents(const UnrollBatch& batch, const model::PolicySpec& spec,
                                 std::int64_t none) {
  const std::int64_t rows = (batch.length + 1) * batch.columns;
  const std::int64_t fields = spec.content_count();
  std::vector<at::Tensor> contents;
  for (std::int64_t field = 0; field < fields; ++field) {
    at::Tensor index = at::empty({rows}, at::kLong);
    auto* const out = index.data_ptr<std::int64_t>();
    for (std::int64_t row = 0; row < rows; ++row) {
      const std::int32_t at = batch.content_index[static_cast<std::size_t>(row * fields + field)];
      out[row] = at < 0 ? none : at;
    }
    contents.push_back(std::move(index));
  }
  return contents;
}

at::Tensor MarkCounts(const model::MarkRows& marks, std::int64_t kinds) {
  at::Tensor counts = at::empty({static_cast<std::int64_t>(marks.rows()), kinds}, at::kFloat);
  const auto width = static_cast<std::size_t>(kinds);
  for (std::size_t row = 0; row < marks.rows(); ++row) {
    model::CountMarks(marks.Row(row), model::FloatsOf(counts).subspan(row * width, width));
  }
  return counts;
}

at::Tensor Alive(const UnrollBatch& batch) {
  at::Tensor alive = at::empty({batch.length + 1, batch.columns, 1}, at::kFloat);
  auto* const out = alive.data_ptr<float>();
  for (std::int64_t row = 0; row < (batch.length + 1) * batch.columns; ++row) {
    out[row] = (batch.flags[static_cast<std::size_t>(row)] & kFirst) != 0 ? 0.0F : 1.0F;
  }
  return alive;
}

// Computes the sums of past requests. Each row's request is added after the row, in the order of
// rows, as inference does.
at::Tensor PastRequests(const UnrollBatch& batch, const BatchTensors& tensors,
                        const at::Tensor& requests, std::int64_t size) {
  at::Tensor past = at::empty({batch.length + 1, batch.columns, size}, at::kFloat);
  at::Tensor sum = Copy(batch.past_requests, {batch.columns, size});
  for (std::int64_t t = 0; t <= batch.length; ++t) {
    sum.mul_(tensors.alive[t]);
    past[t].copy_(sum);
    const at::Tensor rows = requests.narrow(0, t * batch.columns, batch.columns);
    sum.add_(tensors.embeddings.index_select(0, rows));
  }
  return past.view({(batch.length + 1) * batch.columns, size});
}

// Returns 1 for each row of [T + 1, B] that is no padding, else 0.
std::vector<float> RowsWithoutPadding(const UnrollBatch& batch) {
  const auto columns = static_cast<std::size_t>(batch.columns);
  std::vector<float> rows(static_cast<std::size_t>(batch.length + 1) * columns, 1.0F);
  for (std::size_t column = 0; column < batch.lengths.size(); ++column) {
    const auto bootstrap = static_cast<std::size_t>(batch.lengths[column]);
    for (std::size_t t = bootstrap + 1; t <= static_cast<std::size_t>(batch.length); ++t) {
      rows[t * columns + column] = 0.0F;
    }
  }
  return rows;
}

std::vector<float> ImportanceOfRows(const UnrollBatch& batch) {
  const auto columns = static_cast<std::size_t>(batch.columns);
  std::vector<float> rows(static_cast<std::size_t>(batch.length) * columns, 1.0F);
  if (batch.importance.empty()) return rows;
  for (std::size_t row = 0; row < rows.size(); ++row) rows[row] = batch.importance[row % columns];
  return rows;
}

// Gives every row with weight its catalog, its goal and the standardisation of its similarity.
CandidateRows SimilaritiesOf(const UnrollBatch& batch, const model::PolicySpec& spec,
                             std::span<const float> weight, const BatchTensors& tensors) {
  const auto* const content = tensors.contents[static_cast<std::size_t>(spec.similarity_index())]
                                  .const_data_ptr<std::int64_t>();
  CandidateRows out;
  out.rows.resize(weight.size());
  std::map<std::uint64_t, std::int32_t> catalogs;
  std::vector<std::map<std::int64_t, std::int32_t>> goal_places;
  std::vector<std::vector<std::int64_t>> goals;
  const auto table_of = [&](std::size_t row) -> const auto& {
    return batch.tables[static_cast<std::size_t>(batch.catalog[row])];
  };
  for (std::size_t row = 0; row < weight.size(); ++row) {
    if (weight[row] == 0) continue;
    const auto& table = table_of(row);
    const auto& catalog = table->base() == nullptr ? table : table->base();
    const auto [place, added] =
        catalogs.try_emplace(catalog->id(), static_cast<std::int32_t>(out.catalogs.size()));
    if (added) {
      out.catalogs.push_back(catalog);
      goal_places.emplace_back();
      goals.emplace_back();
    }
    const auto at = static_cast<std::size_t>(place->second);
    const auto [goal, first] =
        goal_places[at].try_emplace(content[row], static_cast<std::int32_t>(goals[at].size()));
    if (first) goals[at].push_back(content[row]);
    out.rows[row].catalog = place->second;
    out.rows[row].goal = goal->second;
  }
  std::vector<std::vector<model::CosineSums>> sums(goals.size());
  for (std::size_t at = 0; at < goals.size(); ++at) {
    const auto count = static_cast<std::int64_t>(goals[at].size());
    const at::Tensor which = at::from_blob(goals[at].data(), {count}, at::kLong);
    out.cosines.push_back(
        model::Cosines(*out.catalogs[at], tensors.embeddings.index_select(0, which)));
    for (std::int64_t goal = 0; goal < count; ++goal) {
      sums[at].push_back(
          model::CosineSums::Of(*out.catalogs[at], model::RowOf(out.cosines[at], goal)));
    }
  }
  // Rows with the same table and goal share their similarity.
  std::map<std::pair<std::uint64_t, std::int32_t>, RowSimilarity> alike;
  const auto similarity_weight = static_cast<float>(spec.similarity_weight);
  for (std::size_t row = 0; row < weight.size(); ++row) {
    RowSimilarity& similarity = out.rows[row];
    if (similarity.catalog < 0) continue;
    const auto& table = table_of(row);
    const auto [known, added] = alike.try_emplace({table->id(), similarity.goal}, similarity);
    if (added) {
      const auto at = static_cast<std::size_t>(similarity.catalog);
      std::span<const float> appended;
      if (table->own_size() > 0 && table->base() != nullptr) {
        known->second.appended = static_cast<std::int32_t>(out.appended.size());
        out.appended.push_back(
            model::OwnCosines(*table, model::RowOf(tensors.embeddings, content[row])));
        appended = out.appended.back();
      }
      const model::Standardisation z =
          model::Standardise(*table, model::RowOf(out.cosines[at], similarity.goal),
                             sums[at][static_cast<std::size_t>(similarity.goal)], appended);
      known->second.scale = similarity_weight * z.scale;
      known->second.shift = similarity_weight * z.shift;
    }
    similarity = known->second;
  }
  return out;
}

at::Tensor Doubles(std::span<const float> values) {
  auto* const data = const_cast<float*>(values.data());
  return at::from_blob(data, {static_cast<std::int64_t>(values.size())}, at::kFloat)
      .to(at::kDouble);
}

void MoveTo(at::Device device, BatchTensors& tensors) {
  std::vector<at::Tensor*> all = {
      &tensors.observation, &tensors.embeddings, &tensors.past_requests,
      &tensors.mark_counts, &tensors.core_state, &tensors.alive,
      &tensors.illegal,     &tensors.box_action, &tensors.behaviour_log_probability,
      &tensors.value,       &tensors.weight,     &tensors.current_weight,
      &tensors.importance,  &tensors.action};
  for (at::Tensor& content : tensors.contents) all.push_back(&content);
  for (at::Tensor& cosines : tensors.candidates.cosines) all.push_back(&cosines);
  model::MoveTogether(all, device);
}

// A core's state may be of older parameters than the row that it leads to.
bool KnowsCurrentRows(const UnrollBatch& batch, const model::PolicySpec& spec) {
  return batch.newest_is_trained && !batch.staleness.empty() && !spec.has_core();
}

std::vector<float> WeightOfCurrentRows(const UnrollBatch& batch, std::span<const float> weight) {
  std::vector<float> current(weight.begin(), weight.end());
  for (std::size_t row = 0; row < current.size(); ++row) {
    if (batch.staleness[row] != 0) current[row] = 0;
  }
  return current;
}

}  // namespace

model::NetworkInputs BatchTensors::Select(const model::PolicySpec& spec,
                                          const at::Tensor& rows) const {
  model::NetworkInputs inputs;
  if (spec.observation_size > 0) inputs.observation = observation.index_select(0, rows);
  for (const at::Tensor& content : contents) {
    inputs.contents.push_back(embeddings.index_select(0, content.index_select(0, rows)));
  }
  if (spec.past_requests) inputs.past_requests = past_requests.index_select(0, rows);
  if (spec.candidate_marks > 0) inputs.mark_counts = mark_counts.index_select(0, rows);
  return inputs;
}

IndexList IndexList::Of(std::span<const std::int64_t> values, at::Device device) {
  return {.host = values, .device = model::CopyUp(values, device)};
}

IndexList IndexList::At(std::span<const std::int64_t> part) const {
  IndexList some{.host = part, .device = {}};
  if (device.defined()) {
    some.device =
        device.narrow(0, part.data() - host.data(), static_cast<std::int64_t>(part.size()));
  }
  return some;
}

std::vector<std::int64_t> AllRows(std::int64_t rows) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(rows));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

at::Tensor AllRows(std::int64_t rows, at::Device device) {
  return at::arange(rows, at::TensorOptions(at::kLong).device(device));
}

std::vector<std::int64_t> RecordedActions(const UnrollBatch& batch,
                                          std::span<const std::int64_t> rows) {
  std::vector<std::int64_t> actions;
  for (const std::int64_t row : rows) {
    const auto r = static_cast<std::size_t>(row);
    actions.push_back(r < batch.action.size() ? std::max<std::int64_t>(batch.action[r], 0) : 0);
  }
  return actions;
}

TargetTensors::TargetTensors(const Targets& targets, at::Device device)
    : advantage(Doubles(targets.advantage)), value(Doubles(targets.value)) {
  const auto rows = static_cast<std::int64_t>(targets.value.size());
  if (!targets.intrinsic.empty()) intrinsic = Doubles(targets.intrinsic);
  if (!targets.quantile.empty()) {
    quantile = Doubles(targets.quantile).view({rows, -1});
    fraction = Copy(targets.fraction, {static_cast<std::int64_t>(targets.fraction.size())})
                   .view({rows, -1});
  }
  model::MoveTogether({&advantage, &value, &intrinsic, &quantile, &fraction}, device);
}

BatchTensors MakeBatchTensors(const UnrollBatch& batch, const model::PolicySpec& spec,
                              std::span<const float> weight, EvaluatedRows evaluated,
                              at::Device device) {
  const std::int64_t rows = (batch.length + 1) * batch.columns;
  BatchTensors tensors;
  if (rows == 0) return tensors;
  tensors.observation = Observations(batch, spec, rows);
  tensors.embeddings = Embeddings(batch, spec.embedding_size);
  tensors.contents = Contents(batch, spec, tensors.embeddings.size(0) - 1);
  tensors.alive = Alive(batch);
  if (spec.past_requests) {
    const at::Tensor& requests = tensors.contents[static_cast<std::size_t>(spec.request_index())];
    tensors.past_requests = PastRequests(batch, tensors, requests, spec.embedding_size);
  }
  if (spec.candidate_marks > 0) tensors.mark_counts = MarkCounts(batch.marks, spec.candidate_marks);
  if (spec.has_core()) {
    tensors.core_state = Copy(batch.core_state, {batch.columns, spec.core_state_size()});
  }
  if (spec.has_candidates()) {
    const bool all = evaluated == EvaluatedRows::kAll;
    const std::vector<float> unpadded = all ? RowsWithoutPadding(batch) : std::vector<float>();
    tensors.candidates =
        SimilaritiesOf(batch, spec, all ? std::span<const float>(unpadded) : weight, tensors);
  } else if (spec.has_box()) {
    tensors.box_action = Copy(batch.box_action, {batch.length * batch.columns, spec.action_count});
  } else if (!batch.legal.empty()) {
    auto* const legal = const_cast<std::uint8_t*>(batch.legal.data());
    tensors.illegal = at::from_blob(legal, {rows, spec.action_count}, at::kByte).eq(0);
  }
  tensors.behaviour_log_probability = Doubles(batch.behaviour_log_probability);
  tensors.value = Doubles(batch.value);
  tensors.weight = Doubles(weight);
  if (KnowsCurrentRows(batch, spec)) {
    tensors.current_weight = Doubles(WeightOfCurrentRows(batch, weight));
  }
  tensors.importance = Doubles(ImportanceOfRows(batch));
  std::vector<std::int64_t> actions = RecordedActions(batch, AllRows(rows));
  tensors.action = at::from_blob(actions.data(), {rows}, at::kLong).clone();
  MoveTo(device, tensors);
  return tensors;
}

}  // namespace shoal::algorithms
