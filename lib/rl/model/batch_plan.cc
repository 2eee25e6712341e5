// SPDX-License-Identifier: Apache-2.0
#include "rl/model/batch_plan.h"

#include <ATen/ops/from_blob.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "rl/model/action_values.h"
#include "rl/model/box_actions.h"
#include "rl/model/candidate_table_tensors.h"
#include "rl/model/shape_bucket.h"

namespace shoal::model {
namespace {

template <typename T>
std::span<const T> NumbersOf(const at::Tensor& host) {
  return {host.const_data_ptr<T>(), static_cast<std::size_t>(host.numel())};
}

std::vector<float> FirstFloats(const at::Tensor& host, std::int64_t count) {
  const auto numbers = NumbersOf<float>(host).first(static_cast<std::size_t>(count));
  return {numbers.begin(), numbers.end()};
}

bool AnyBySimilarity(const PolicyInputs& inputs, const std::vector<std::int64_t>& rows) {
  return std::any_of(rows.begin(), rows.end(), [&](std::int64_t row) {
    return inputs.choice[static_cast<std::size_t>(row)] == Choice::kSimilarity;
  });
}

}  // namespace

BatchPlan::BatchPlan(std::shared_ptr<const PolicySpec> spec, const PolicyInputs& inputs,
                     SimilarityCache& cache, at::Device device, bool padded)
    : spec_(std::move(spec)),
      padded_(padded),
      rows_(padded ? RowBucket(inputs.rows) : inputs.rows),
      batch_(device) {
  AddArrays(inputs);
  if (spec_->has_candidates()) {
    AddCandidates(inputs, cache);
  } else if (!spec_->has_box()) {
    AddDiscrete(inputs);
  }
}

void BatchPlan::AddArrays(const PolicyInputs& inputs) {
  const PolicySpec& spec = *spec_;
  arrays_.observation = batch_.Add(inputs.observation, rows_ * spec.number_count());
  arrays_.contents =
      batch_.AddHalves(inputs.contents, rows_ * spec.content_count() * spec.embedding_size);
  arrays_.past_requests =
      batch_.Add(inputs.past_requests, spec.past_requests ? rows_ * spec.embedding_size : 0);
  arrays_.core_state = batch_.Add(inputs.core_state, rows_ * spec.core_state_size());
  arrays_.legal = batch_.Add(inputs.legal, inputs.legal.empty() ? 0 : rows_ * spec.action_count);
  std::vector<float> alive_rows;
  for (const std::uint8_t first : inputs.first) alive_rows.push_back(first != 0 ? 0.0F : 1.0F);
  arrays_.alive = batch_.Add(alive_rows, rows_);
  const auto kinds = static_cast<std::size_t>(spec.candidate_marks);
  std::vector<float> counts(static_cast<std::size_t>(rows_) * kinds);
  for (std::size_t row = 0; kinds > 0 && row < static_cast<std::size_t>(inputs.rows); ++row) {
    CountMarks(inputs.marks.Row(row), std::span(counts).subspan(row * kinds, kinds));
  }
  arrays_.mark_counts = batch_.Add(counts);
}

void BatchPlan::AddCandidates(const PolicyInputs& inputs, SimilarityCache& cache) {
  const at::Tensor contents =
      at::from_blob(const_cast<std::uint16_t*>(inputs.contents.data()),
                    {inputs.rows, spec_->content_count(), spec_->embedding_size}, at::kHalf);
  const at::Tensor goals =
      contents.select(1, spec_->similarity_index()).to(at::kFloat).contiguous();
  std::vector<CatalogRows> catalogs = RowsByCatalog(*spec_, inputs);
  std::sort(catalogs.begin(), catalogs.end(), [](const CatalogRows& a, const CatalogRows& b) {
    return a.catalog->id() < b.catalog->id();
  });
  for (CatalogRows& members : catalogs) {
    const auto count = static_cast<std::int64_t>(members.rows.size());
    // One more than there are, for CandidateBatch.
    const std::int64_t padded = padded_ ? RowBucket(count + 1) : 0;
    Group group{.members = {},
                .rows = std::max(count, padded),
                .which = batch_.Add(std::span<const std::int64_t>(members.rows), padded),
                .choices = ChoiceBatch(inputs, members.rows, batch_, padded),
                .candidates = {},
                .goals = {},
                .similarities = Similarities(*spec_, members, inputs, goals, cache),
                .returns_logits = AnyBySimilarity(inputs, members.rows)};
    std::map<SimilarityCache::Row, std::int64_t> places;
    std::vector<CandidateBatchRow> rows;
    for (std::size_t i = 0; i < members.rows.size(); ++i) {
      const GoalSimilarity& similarity = group.similarities[i];
      const auto [place, added] =
          places.try_emplace(similarity.goal, static_cast<std::int64_t>(group.goals.size()));
      if (added) group.goals.push_back(similarity.goal);
      const std::int64_t row = members.rows[i];
      rows.push_back({.table = TableOf(inputs, row).get(),
                      .marks = spec_->candidate_marks > 0
                                   ? inputs.marks.Row(static_cast<std::size_t>(row))
                                   : std::span<const CandidateMark>(),
                      .goal = place->second,
                      .scale = similarity.scale,
                      .shift = similarity.shift,
                      .appended = similarity.appended});
    }
    group.candidates.emplace(*members.catalog, rows, spec_->candidate_marks, batch_, padded);
    group.members = std::move(members);
    groups_.push_back(std::move(group));
  }
}

void BatchPlan::AddDiscrete(const PolicyInputs& inputs) {
  CatalogRows all{.catalog = nullptr,
                  .rows = std::vector<std::int64_t>(static_cast<std::size_t>(inputs.rows))};
  std::iota(all.rows.begin(), all.rows.end(), 0);
  ChoiceBatch choices(inputs, all.rows, batch_, rows_);
  groups_.push_back({.members = std::move(all),
                     .rows = rows_,
                     .which = {},
                     .choices = std::move(choices),
                     .candidates = {},
                     .goals = {},
                     .similarities = {},
                     .returns_logits = false});
}

std::vector<std::int64_t> BatchPlan::Shape() const {
  std::vector<std::int64_t> shape = {rows_};
  shape.insert(shape.end(), batch_.lengths().begin(), batch_.lengths().end());
  for (const Group& group : groups_) {
    shape.push_back(group.rows);
    shape.push_back(2 * group.choices.operations() + (group.returns_logits ? 1 : 0));
    if (!group.candidates) continue;
    shape.push_back(static_cast<std::int64_t>(group.members.catalog->id()));
    shape.push_back(group.candidates->width());
  }
  return shape;
}

NetworkInputs BatchPlan::Inputs(const at::Tensor& alive) const {
  NetworkInputs tensors;
  if (!spec_->has_convolution()) {
    tensors.observation = batch_.Get(arrays_.observation, {rows_, spec_->observation_size});
  }
  if (const std::int64_t fields = spec_->content_count(); fields > 0) {
    const at::Tensor contents =
        batch_.Get(arrays_.contents, {rows_, fields, spec_->embedding_size}).to(at::kFloat);
    for (std::int64_t f = 0; f < fields; ++f) tensors.contents.push_back(contents.select(1, f));
  }
  if (spec_->past_requests) {
    tensors.past_requests =
        batch_.Get(arrays_.past_requests, {rows_, spec_->embedding_size}).mul(alive);
  }
  if (spec_->candidate_marks > 0) {
    tensors.mark_counts = batch_.Get(arrays_.mark_counts, {rows_, spec_->candidate_marks});
  }
  return tensors;
}

std::vector<at::Tensor> BatchPlan::Forward(const Network& network,
                                           std::span<const CandidateTensors> candidates,
                                           const at::Tensor& convolved) const {
  const PolicySpec& spec = *spec_;
  const at::Tensor alive = batch_.Get(arrays_.alive, {rows_, 1});
  NetworkInputs tensors = Inputs(alive);
  tensors.convolved = convolved;
  const at::Tensor features = network.Features(tensors);
  at::Tensor hidden = network.Torso(features);
  at::Tensor core_state;
  at::Tensor core;
  if (spec.has_core()) {
    core_state = network.Core(
        hidden, batch_.Get(arrays_.core_state, {rows_, spec.core_state_size()}).mul(alive));
    core = network.CoreOutput(core_state);
    hidden = core;
  }
  hidden = network.AtMean(hidden);
  const at::Tensor head = network.ActingHead(tensors, features, hidden);

  // In this order: the core's state, the values, the head of a box, then what each group has.
  std::vector<at::Tensor> down;
  if (core_state.defined()) down.push_back(core_state);
  if (spec.acts_by_critic()) down.push_back(network.Value(features, core));
  if (spec.has_box()) down.push_back(head);
  at::Tensor mark_weights;
  if (spec.candidate_marks > 0) mark_weights = network.MarkWeights(hidden);
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    const Group& group = groups_[i];
    at::Tensor logits = head;
    if (group.candidates) {
      const at::Tensor which = batch_.Get(group.which, {group.rows});
      logits = group.candidates->Logits(
          batch_, {.queries = head.index_select(0, which),
                   .mark_weights =
                       mark_weights.defined() ? mark_weights.index_select(0, which) : mark_weights,
                   .cosines = candidates[i].cosines,
                   .keys = candidates[i].keys,
                   .appended_keys = candidates[i].appended_keys});
    } else if (arrays_.legal.bytes > 0) {
      const at::Tensor legal = batch_.Get(arrays_.legal, {rows_, spec.action_count});
      logits = head.masked_fill(legal.eq(0), kIllegalLogit);
    }
    const ChoiceBatch::Chosen chosen = group.choices.Of(batch_, logits);
    down.push_back(chosen.action);
    down.push_back(chosen.log_probability);
    if (spec.action_values) {
      const at::Tensor legal = logits.gt(kSurelyIllegalLogit);
      down.push_back(logits.amax(1));
      down.push_back(
          at::where(legal, logits, at::zeros_like(logits)).sum(1).div(legal.sum(1).clamp_min(1)));
      down.push_back(logits.gather(1, chosen.action.clamp_min(0).unsqueeze(1)).squeeze(1));
    }
    if (group.returns_logits) down.push_back(logits);
  }
  return down;
}

PolicyOutputs BatchPlan::Outputs(const PolicyInputs& inputs,
                                 const std::vector<at::Tensor>& host) const {
  PolicyOutputs outputs;
  const auto count = static_cast<std::size_t>(inputs.rows);
  outputs.action.assign(count, -1);
  outputs.log_probability.assign(count, 0.0F);
  if (spec_->action_values) outputs.action_value.assign(count, 0.0F);
  std::size_t next = 0;
  if (spec_->has_core()) {
    outputs.core_state = FirstFloats(host[next++], inputs.rows * spec_->core_state_size());
  }
  if (spec_->acts_by_critic()) {
    outputs.value = FirstFloats(host[next++], inputs.rows);
  } else {
    outputs.value.assign(count, 0.0F);
  }
  if (spec_->has_box()) ChooseBox(*spec_, inputs, NumbersOf<float>(host[next++]), outputs);
  for (const Group& group : groups_) next = Record(inputs, group, host, next, outputs);
  return outputs;
}

// Writes what a group chose, and returns the place of what follows in `host`.
std::size_t BatchPlan::Record(const PolicyInputs& inputs, const Group& group,
                              const std::vector<at::Tensor>& host, std::size_t next,
                              PolicyOutputs& outputs) const {
  const auto actions = NumbersOf<std::int64_t>(host[next++]);
  const auto logs = NumbersOf<float>(host[next++]);
  std::span<const float> greatest;
  std::span<const float> mean;
  std::span<const float> chosen;
  if (spec_->action_values) {
    greatest = NumbersOf<float>(host[next++]);
    mean = NumbersOf<float>(host[next++]);
    chosen = NumbersOf<float>(host[next++]);
  }
  const at::Tensor logits = group.returns_logits ? host[next++] : at::Tensor();
  for (std::size_t i = 0; i < group.members.rows.size(); ++i) {
    const std::int64_t row = group.members.rows[i];
    const auto r = static_cast<std::size_t>(row);
    outputs.action[r] = actions[i];
    outputs.log_probability[r] = logs[i];
    float number = spec_->action_values ? chosen[i] : 0.0F;
    if (inputs.choice[r] == Choice::kSimilarity) {
      const auto numbers = RowOf(logits, static_cast<std::int64_t>(i))
                               .first(static_cast<std::size_t>(TableOf(inputs, row)->size()));
      const auto similarity = [&group, i] { return group.similarities[i].Cosines(); };
      ChooseAction({.logits = numbers, .similarity = similarity}, inputs, row, outputs);
      number = numbers[static_cast<std::size_t>(outputs.action[r])];
    }
    if (spec_->action_values) {
      const ActionValueRow summary{.maximum = greatest[i], .mean = mean[i]};
      RecordActionValue(*spec_, summary, number, row, outputs);
    }
  }
  return next;
}

void BatchPlan::ForgetRows() {
  for (Group& group : groups_) {
    group.members = {};
    group.goals.clear();
    group.similarities.clear();
  }
}

}  // namespace shoal::model
