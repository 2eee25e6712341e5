// SPDX-License-Identifier: Apache-2.0
#include "tests/rl/algorithms/pointer_task.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "platform/runtime/random.h"
#include "rl/algorithms/algorithm.h"

namespace shoal::algorithms {
namespace {

constexpr std::int64_t kEpisode = 3;

std::vector<std::uint16_t> UnitVectors(runtime::Random& random, std::int64_t rows,
                                       std::int64_t size) {
  std::vector<std::uint16_t> halves;
  for (std::int64_t row = 0; row < rows; ++row) {
    std::vector<double> values;
    double square = 0;
    for (std::int64_t i = 0; i < size; ++i) {
      values.push_back(random.Normal());
      square += values.back() * values.back();
    }
    for (const double value : values) {
      halves.push_back(runtime::ToHalf(static_cast<float>(value / std::sqrt(square))));
    }
  }
  return halves;
}

void Append(const std::vector<std::uint16_t>& from, std::vector<std::uint16_t>& to) {
  to.insert(to.end(), from.begin(), from.end());
}

// Returns rows `begin` to `begin + count` of `embeddings` [N, D].
runtime::Tensor Rows(const std::vector<std::uint16_t>& embeddings, std::int64_t begin,
                     std::int64_t count, std::int64_t size) {
  runtime::Tensor tensor(runtime::DType::kFloat16, {count, size});
  std::memcpy(tensor.mutable_bytes().data(), embeddings.data() + begin * size,
              tensor.bytes().size());
  return tensor;
}

}  // namespace

model::PolicySpec SmallSpec() {
  model::PolicySpec spec;
  spec.observation_size = 2;
  spec.embedding_size = 12;
  spec.projection_size = 8;
  spec.hidden = {16};
  spec.value_hidden = {16};
  spec.core_size = 6;
  spec.content_fields = {"goal", "request"};
  spec.similarity_weight = 0;
  return spec;
}

model::PolicySpec SpecFor(const Algorithm& algorithm, model::PolicySpec spec) {
  spec.action_values = algorithm.action_values() != nullptr;
  const bool quantiles = spec.action_values && algorithm.action_values()->quantiles().trained > 0;
  spec.quantile_cosines = quantiles ? 5 : 0;
  spec.dueling = spec.dueling && spec.action_values && !quantiles;
  return spec;
}

PointerTask::PointerTask(const model::PolicySpec& spec, const PointerTaskOptions& options)
    : spec_(spec), options_(options) {
  runtime::Random random(options.seed, 1);
  for (const std::int64_t size : options.table_sizes) {
    embeddings_.push_back(UnitVectors(random, size, spec.embedding_size));
    const std::vector<std::uint32_t> removed = {0};
    // Every second table is an overlay on the first half of its candidates.
    const std::int64_t below = tables_.size() % 2 == 1 ? size / 2 : 0;
    std::shared_ptr<const model::CandidateTable> base;
    if (below > 0) {
      const runtime::Tensor half = Rows(embeddings_.back(), 0, below, spec.embedding_size);
      base = model::CandidateTable::Create(half, {}).value();
    }
    const runtime::Tensor own = Rows(embeddings_.back(), below, size - below, spec.embedding_size);
    tables_.push_back(model::CandidateTable::Create(own, removed, std::move(base)).value());
  }
  columns_.resize(static_cast<std::size_t>(options.columns));
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    columns_[i].table = i % tables_.size();
    Begin(columns_[i], i);
  }
}

void PointerTask::Begin(Column& column, std::size_t index) {
  runtime::Random random(runtime::DeriveSeed(options_.seed, "episode"),
                         index * 1'000'000 + static_cast<std::uint64_t>(column.episode));
  ++column.episode;
  column.step = 0;
  const std::int64_t size = tables_[column.table]->size();
  column.target = 1 + static_cast<std::int64_t>(random.Below(static_cast<std::uint64_t>(size - 1)));
  const auto dimension = static_cast<std::size_t>(spec_.embedding_size);
  column.goal.clear();
  for (std::size_t i = 0; i < dimension; ++i) {
    const std::size_t at = static_cast<std::size_t>(column.target) * dimension + i;
    const double noise =
        options_.noise * random.Normal() / std::sqrt(static_cast<double>(dimension));
    column.goal.push_back(runtime::ToHalf(runtime::FromHalf(embeddings_[column.table][at]) +
                                          static_cast<float>(noise)));
  }
  column.request.assign(dimension, 0);
  column.past.assign(dimension, 0.0F);
  column.core.assign(static_cast<std::size_t>(spec_.core_state_size()), 0.0F);
}

// Marks vary over columns and time and fall on removed and appended candidates too.
std::vector<model::CandidateMark> PointerTask::MarksOf(std::size_t column) const {
  std::vector<model::CandidateMark> marks;
  const std::int64_t size = tables_[columns_[column].table]->size();
  for (std::int64_t candidate = 0; candidate < size; candidate += 2) {
    const std::uint64_t word = static_cast<std::uint64_t>(candidate) + 3 * column + 7 * clock_;
    const auto bits = static_cast<std::uint32_t>(
        word % (std::uint64_t{1} << static_cast<std::uint64_t>(spec_.candidate_marks)));
    if (bits != 0) marks.push_back({static_cast<std::uint32_t>(candidate), bits});
  }
  return marks;
}

// The step and then ones, or a frame of which every pixel varies over columns and steps.
void PointerTask::AppendObservation(std::size_t column, model::PolicyInputs& inputs) const {
  const std::int64_t step = columns_[column].step;
  if (spec_.number_count() > 0) inputs.observation.push_back(static_cast<float>(step));
  for (std::int64_t o = 1; o < spec_.number_count(); ++o) inputs.observation.push_back(1.0F);
  runtime::Random random(runtime::DeriveSeed(options_.seed, "frame"),
                         column * 1'000 + static_cast<std::uint64_t>(step + 1));
  for (std::int64_t pixel = 0; pixel < spec_.frame_size(); ++pixel) {
    inputs.frames.push_back(static_cast<std::uint8_t>(random.Below(256)));
  }
}

model::PolicyInputs PointerTask::Inputs() const {
  model::PolicyInputs inputs;
  inputs.rows = options_.columns;
  inputs.tables = tables_;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const Column& column = columns_[i];
    AppendObservation(i, inputs);
    if (spec_.content_count() > 0) Append(column.goal, inputs.contents);
    if (spec_.content_count() > 1) Append(column.request, inputs.contents);
    for (std::int64_t f = 2; f < spec_.content_count(); ++f) Append(column.goal, inputs.contents);
    std::uint8_t key[16] = {};
    std::memcpy(key, column.goal.data(), std::min<std::size_t>(16, 2 * column.goal.size()));
    inputs.goal_keys.insert(inputs.goal_keys.end(), key, key + 16);
    if (spec_.past_requests) {
      inputs.past_requests.insert(inputs.past_requests.end(), column.past.begin(),
                                  column.past.end());
    }
    inputs.core_state.insert(inputs.core_state.end(), column.core.begin(), column.core.end());
    inputs.first.push_back(column.step == 0 ? 1 : 0);
    inputs.table.push_back(static_cast<std::int32_t>(column.table));
    if (spec_.candidate_marks > 0) inputs.marks.Add(MarksOf(i));
    const auto explores =
        spec_.action_values ? model::Choice::kEpsilonGreedy : model::Choice::kSample;
    const auto acts = options_.expert ? model::Choice::kForced : explores;
    inputs.epsilon.push_back(options_.epsilon);
    inputs.choice.push_back(column.step < 0 ? model::Choice::kValueOnly : acts);
    inputs.forced_action.push_back(column.target);
    inputs.draw.push_back(runtime::UniformAt(options_.seed, i, clock_, 0));
  }
  return inputs;
}

void PointerTask::Observe(const model::PolicyInputs& inputs, UnrollBatch& batch) const {
  const auto dimension = static_cast<std::size_t>(spec_.embedding_size);
  batch.observation.insert(batch.observation.end(), inputs.observation.begin(),
                           inputs.observation.end());
  batch.frames.insert(batch.frames.end(), inputs.frames.begin(), inputs.frames.end());
  const std::size_t contents = inputs.contents.size() / dimension;
  for (std::size_t i = 0; i < contents; ++i) {
    const auto begin = inputs.contents.begin() + static_cast<std::ptrdiff_t>(i * dimension);
    const auto end = begin + static_cast<std::ptrdiff_t>(dimension);
    if (std::all_of(begin, end, [](std::uint16_t half) { return half == 0; })) {
      batch.content_index.push_back(-1);
      continue;
    }
    batch.content_index.push_back(static_cast<std::int32_t>(batch.embeddings.size() / dimension));
    batch.embeddings.insert(batch.embeddings.end(), begin, end);
  }
  for (std::size_t i = 0; i < inputs.marks.rows(); ++i) batch.marks.Add(inputs.marks.Row(i));
  batch.catalog.insert(batch.catalog.end(), inputs.table.begin(), inputs.table.end());
}

void PointerTask::Advance(const model::PolicyOutputs& outputs, std::int64_t t, UnrollBatch& batch) {
  const auto dimension = static_cast<std::size_t>(spec_.embedding_size);
  const std::size_t states = static_cast<std::size_t>(spec_.core_state_size());
  const bool last = t == batch.length;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    Column& column = columns_[i];
    std::uint8_t flags = column.step == 0 ? kFirst : 0;
    if (column.step < 0) flags = kFinal;
    const bool ends = column.step == kEpisode - 1;
    if (ends && !last) flags |= Truncates(i) ? kTruncated : kTerminated;
    batch.flags.push_back(flags);
    batch.value.push_back(outputs.value[i]);
    if (last) continue;
    const std::int64_t action = outputs.action[i];
    const bool right = action >= 0 && action % tables_[column.table]->size() == column.target;
    batch.action.push_back(action);
    batch.behaviour_log_probability.push_back(outputs.log_probability[i]);
    batch.reward.push_back(right ? 1.0F : 0.0F);
    batch.weight.push_back(column.step < 0 ? 0.0F : 1.0F);
    batch.staleness.push_back(static_cast<std::int64_t>(i % 2));
    if (column.step < 0 || (ends && !Truncates(i))) {
      if (column.step >= 0) right_ += right ? 1 : 0;
      if (column.step >= 0) ++answers_;
      Begin(column, i);
      continue;
    }
    right_ += right ? 1 : 0;
    ++answers_;
    for (std::size_t d = 0; d < dimension; ++d) {
      column.past[d] += runtime::FromHalf(column.request[d]);
      const std::size_t at = static_cast<std::size_t>(action) * dimension + d;
      column.request[d] = embeddings_[column.table][at % embeddings_[column.table].size()];
    }
    column.core.assign(outputs.core_state.begin() + static_cast<std::ptrdiff_t>(i * states),
                       outputs.core_state.begin() + static_cast<std::ptrdiff_t>((i + 1) * states));
    column.step = ends ? -1 : column.step + 1;
  }
  ++clock_;
}

UnrollBatch PointerTask::Play(const model::Policy& policy, std::int64_t length) {
  UnrollBatch batch;
  batch.length = length;
  batch.columns = options_.columns;
  batch.tables = tables_;
  for (std::int64_t t = 0; t <= length; ++t) {
    const model::PolicyInputs inputs = Inputs();
    if (t == 0) {
      batch.past_requests = inputs.past_requests;
      batch.core_state = inputs.core_state;
    }
    Observe(inputs, batch);
    Advance(policy.Act(inputs, cache_).value(), t, batch);
  }
  return batch;
}

double PointerTask::TakeSuccess() {
  const double success = answers_ > 0 ? right_ / answers_ : 0;
  right_ = 0;
  answers_ = 0;
  return success;
}

void AddOverlay(UnrollBatch& batch, std::int64_t embedding_size) {
  const auto base = batch.tables.front();
  runtime::Tensor appended(runtime::DType::kFloat16, {2, embedding_size});
  auto* const halves = reinterpret_cast<std::uint16_t*>(appended.mutable_bytes().data());
  for (std::int64_t i = 0; i < 2 * embedding_size; ++i) {
    halves[i] = runtime::ToHalf(0.1F * static_cast<float>(i % 7) - 0.3F);
  }
  batch.tables.push_back(
      model::CandidateTable::Create(appended, std::vector<std::uint32_t>{}, base).value());
  for (std::size_t row = 0; row < batch.catalog.size(); row += 2) {
    if (batch.catalog[row] == 0) {
      batch.catalog[row] = static_cast<std::int32_t>(batch.tables.size() - 1);
    }
  }
}

}  // namespace shoal::algorithms
