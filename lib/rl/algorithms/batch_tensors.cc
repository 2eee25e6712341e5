// SPDX-License-Identifier: Apache-2.0
#include "rl/algorithms/batch_tensors.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/zeros.h>

#include <map>
#include <utility>

#include "rl/model/candidate_table_tensors.h"

namespace shoal::algorithms {
namespace {

at::Tensor Copy(const std::vector<float>& values, at::IntArrayRef shape) {
  return at::from_blob(const_cast<float*>(values.data()), shape, at::kFloat).clone();
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
  const std::int64_t rows = batch.length * batch.columns;
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

at::Tensor Alive(const UnrollBatch& batch) {
  at::Tensor alive = at::empty({batch.length, batch.columns, 1}, at::kFloat);
  auto* const out = alive.data_ptr<float>();
  for (std::int64_t row = 0; row < batch.length * batch.columns; ++row) {
    out[row] = (batch.flags[static_cast<std::size_t>(row)] & kFirst) != 0 ? 0.0F : 1.0F;
  }
  return alive;
}

// Adds each row's request after it, in the order of rows, as inference does.
at::Tensor PastRequests(const UnrollBatch& batch, const BatchTensors& tensors,
                        const at::Tensor& requests, std::int64_t size) {
  at::Tensor past = at::empty({batch.length, batch.columns, size}, at::kFloat);
  at::Tensor sum = Copy(batch.past_requests, {batch.columns, size});
  for (std::int64_t t = 0; t < batch.length; ++t) {
    sum.mul_(tensors.alive[t]);
    past[t].copy_(sum);
    const at::Tensor rows = requests.narrow(0, t * batch.columns, batch.columns);
    sum.add_(tensors.embeddings.index_select(0, rows));
  }
  return past.view({batch.length * batch.columns, size});
}

void AddSimilarities(const UnrollBatch& batch, const model::PolicySpec& spec,
                     std::span<const float> weight, BatchTensors& tensors) {
  const std::size_t rows = weight.size();
  const auto* const content =
      tensors.contents[static_cast<std::size_t>(spec.goal_index())].data_ptr<std::int64_t>();
  std::vector<std::map<std::int64_t, std::int64_t>> index(batch.tables.size());
  std::vector<std::vector<std::int64_t>> goals(batch.tables.size());
  tensors.goal.assign(rows, 0);
  for (std::size_t row = 0; row < rows; ++row) {
    if (weight[row] == 0) continue;
    const auto table = static_cast<std::size_t>(batch.catalog[row]);
    const auto next = static_cast<std::int64_t>(goals[table].size());
    const auto [at, added] = index[table].try_emplace(content[row], next);
    if (added) goals[table].push_back(content[row]);
    tensors.goal[row] = at->second;
  }
  for (std::size_t table = 0; table < batch.tables.size(); ++table) {
    if (goals[table].empty()) {
      tensors.similarity.emplace_back();
      continue;
    }
    const auto count = static_cast<std::int64_t>(goals[table].size());
    const at::Tensor which = at::from_blob(goals[table].data(), {count}, at::kLong);
    at::Tensor similarity = model::StandardisedSimilarity(
        *batch.tables[table], tensors.embeddings.index_select(0, which));
    similarity.mul_(spec.similarity_weight);
    model::FillRemoved(*batch.tables[table], model::kIllegalLogit, similarity);
    tensors.similarity.push_back(std::move(similarity));
  }
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
  return inputs;
}

BatchTensors MakeBatchTensors(const UnrollBatch& batch, const model::PolicySpec& spec,
                              std::span<const float> weight) {
  const std::int64_t rows = batch.length * batch.columns;
  BatchTensors tensors;
  if (rows == 0) return tensors;
  tensors.observation = Copy(batch.observation, {rows + batch.columns, spec.observation_size});
  tensors.embeddings = Embeddings(batch, spec.embedding_size);
  tensors.contents = Contents(batch, spec, tensors.embeddings.size(0) - 1);
  tensors.alive = Alive(batch);
  if (spec.past_requests) {
    const at::Tensor& requests = tensors.contents[static_cast<std::size_t>(spec.request_index())];
    tensors.past_requests = PastRequests(batch, tensors, requests, spec.embedding_size);
  }
  if (spec.has_core()) tensors.core_state = Copy(batch.core_state, {batch.columns, spec.core_size});
  if (spec.has_candidates()) {
    AddSimilarities(batch, spec, weight, tensors);
  } else if (!batch.legal.empty()) {
    auto* const legal = const_cast<std::uint8_t*>(batch.legal.data());
    tensors.illegal = at::from_blob(legal, {rows, spec.action_count}, at::kByte).eq(0);
  }
  return tensors;
}

}  // namespace shoal::algorithms
