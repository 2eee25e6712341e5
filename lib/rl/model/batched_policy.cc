// SPDX-License-Identifier: Apache-2.0
#include "rl/model/batched_policy.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "platform/runtime/mutex.h"
#include "rl/model/action_values.h"
#include "rl/model/box_actions.h"
#include "rl/model/candidate_batch.h"
#include "rl/model/candidate_table_tensors.h"
#include "rl/model/catalog_rows.h"
#include "rl/model/choice_batch.h"
#include "rl/model/torch_device.h"

namespace shoal::model {
namespace {

template <typename T>
std::span<const T> NumbersOf(const at::Tensor& host) {
  return {host.const_data_ptr<T>(), static_cast<std::size_t>(host.numel())};
}

std::vector<float> Assign(const at::Tensor& host) {
  const auto numbers = NumbersOf<float>(host);
  return {numbers.begin(), numbers.end()};
}

bool AnyBySimilarity(const PolicyInputs& inputs, const std::vector<std::int64_t>& rows) {
  return std::any_of(rows.begin(), rows.end(), [&](std::int64_t row) {
    return inputs.choice[static_cast<std::size_t>(row)] == Choice::kSimilarity;
  });
}

}  // namespace

// The cosines of goals on the device, by the object of the SimilarityCache. Thread-safe.
class BatchedPolicy::GoalRows {
 public:
  // Returns an undefined tensor for a goal that is not here.
  at::Tensor Find(const SimilarityCache::Row& row) {
    const runtime::MutexLock lock(mutex_);
    const auto found = rows_.find(row);
    return found == rows_.end() ? at::Tensor() : found->second;
  }
  // When the limit is exceeded, every goal has to come again.
  void Insert(const SimilarityCache::Row& row, const at::Tensor& cosines) {
    const runtime::MutexLock lock(mutex_);
    if (bytes_ > kMaximumBytes) {
      rows_.clear();
      bytes_ = 0;
    }
    if (rows_.emplace(row, cosines).second) bytes_ += cosines.nbytes();
  }

 private:
  static constexpr std::size_t kMaximumBytes = std::size_t{256} << 20;

  runtime::Mutex mutex_;
  std::unordered_map<SimilarityCache::Row, at::Tensor> rows_ ABSL_GUARDED_BY(mutex_);
  std::size_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
};

// Where the inputs of the network lie in the batch.
struct BatchedPolicy::Arrays {
  Arrays(const PolicySpec& spec, const PolicyInputs& inputs, DeviceBatch& batch);

  DeviceBatch::Array observation;
  DeviceBatch::Array contents;
  DeviceBatch::Array past_requests;
  DeviceBatch::Array mark_counts;
  DeviceBatch::Array core_state;
  DeviceBatch::Array legal;
  DeviceBatch::Array alive;
};

BatchedPolicy::Arrays::Arrays(const PolicySpec& spec, const PolicyInputs& inputs,
                              DeviceBatch& batch) {
  observation = batch.Add(inputs.observation);
  contents = batch.AddHalves(inputs.contents);
  past_requests = batch.Add(inputs.past_requests);
  core_state = batch.Add(inputs.core_state);
  legal = batch.Add(inputs.legal);
  std::vector<float> alive_rows;
  for (const std::uint8_t first : inputs.first) alive_rows.push_back(first != 0 ? 0.0F : 1.0F);
  alive = batch.Add(alive_rows);
  const auto kinds = static_cast<std::size_t>(spec.candidate_marks);
  std::vector<float> counts(static_cast<std::size_t>(inputs.rows) * kinds);
  for (std::size_t row = 0; kinds > 0 && row < static_cast<std::size_t>(inputs.rows); ++row) {
    CountMarks(inputs.marks.Row(row), std::span(counts).subspan(row * kinds, kinds));
  }
  mark_counts = batch.Add(counts);
}

// Rows that choose together: those of one catalog, or all rows of a discrete head.
struct BatchedPolicy::Group {
  CatalogRows members;
  DeviceBatch::Array which;
  ChoiceBatch choices;
  std::optional<CandidateBatch> candidates;
  // The goals of the members, each once, with their cosines or where these lie in the batch.
  struct Goal {
    SimilarityCache::Row row;
    at::Tensor resident;
    DeviceBatch::Array array;
  };
  std::vector<Goal> goals;
  // Of each member; empty for a discrete head.
  std::vector<GoalSimilarity> similarities;
};

BatchedPolicy::Streams BatchedPolicy::StreamsOn(at::Device device, const BatchedPolicy* previous) {
  if (device.is_cpu()) return {};
  if (previous != nullptr && previous->device_ == device) return previous->streams_;
  const c10::impl::VirtualGuardImpl streams(device.type());
  const auto next = [&] {
    return streams.getStreamFromGlobalPool(device, /*isHighPriority=*/true);
  };
  return {.compute = next(), .copies = next()};
}

BatchedPolicy::BatchedPolicy(const PolicySpec& spec, const ParameterLayout& layout,
                             const at::Tensor& flat, const Options& options)
    : spec_(spec),
      device_(flat.device()),
      streams_(StreamsOn(flat.device(), options.previous)),
      network_(spec, layout, flat, /*gradient=*/at::Tensor()) {
  // What is computed here is ready before what Act queues on the same stream.
  const c10::OptionalStreamGuard on_stream(streams_.compute);
  if (options.precision == Precision::kBfloat16) {
    convolution_.emplace(ConvolutionOf(spec).value(), network_.parameters());
  }
  const BatchedPolicy* const previous = options.previous;
  const bool same = previous != nullptr && previous->device_ == device_;
  goals_ = same ? previous->goals_ : std::make_shared<GoalRows>();
  keys_ = previous == nullptr ? KeyCache::For(network_, nullptr, nullptr)
                              : KeyCache::For(network_, &previous->network_, previous->keys_);
}

BatchedPolicy::~BatchedPolicy() = default;

NetworkInputs BatchedPolicy::Inputs(const PolicyInputs& inputs, const Arrays& arrays,
                                    const DeviceBatch& batch, const at::Tensor& alive) const {
  const std::int64_t rows = inputs.rows;
  NetworkInputs tensors;
  if (!spec_.has_convolution()) {
    tensors.observation = batch.Get(arrays.observation, {rows, spec_.observation_size});
  }
  if (const std::int64_t fields = spec_.content_count(); fields > 0) {
    const at::Tensor contents =
        batch.Get(arrays.contents, {rows, fields, spec_.embedding_size}).to(at::kFloat);
    for (std::int64_t f = 0; f < fields; ++f) tensors.contents.push_back(contents.select(1, f));
  }
  if (spec_.past_requests) {
    tensors.past_requests =
        batch.Get(arrays.past_requests, {rows, spec_.embedding_size}).mul(alive);
  }
  if (spec_.candidate_marks > 0) {
    tensors.mark_counts = batch.Get(arrays.mark_counts, {rows, spec_.candidate_marks});
  }
  return tensors;
}

at::Tensor BatchedPolicy::Convolve(const FrameUpload& frames) const {
  std::vector<at::Tensor> parts;
  for (std::size_t i = 0; i < frames.slices(); ++i) {
    const at::Tensor slice = frames.Slice(i);
    parts.push_back(convolution_ ? convolution_->Of(slice) : network_.Convolved(slice));
  }
  return parts.size() == 1 ? parts[0] : at::cat(parts);
}

std::vector<BatchedPolicy::Group> BatchedPolicy::PlanCandidates(const PolicyInputs& inputs,
                                                                SimilarityCache& cache,
                                                                DeviceBatch& batch) const {
  const at::Tensor contents =
      at::from_blob(const_cast<std::uint16_t*>(inputs.contents.data()),
                    {inputs.rows, spec_.content_count(), spec_.embedding_size}, at::kHalf);
  const at::Tensor goals = contents.select(1, spec_.similarity_index()).to(at::kFloat).contiguous();
  std::vector<Group> groups;
  for (CatalogRows& members : RowsByCatalog(spec_, inputs)) {
    Group group{.members = {},
                .which = batch.Add(std::span<const std::int64_t>(members.rows)),
                .choices = ChoiceBatch(inputs, members.rows, batch),
                .candidates = {},
                .goals = {},
                .similarities = Similarities(spec_, members, inputs, goals, cache)};
    std::map<SimilarityCache::Row, std::int64_t> places;
    std::vector<CandidateBatchRow> rows;
    for (std::size_t i = 0; i < members.rows.size(); ++i) {
      const GoalSimilarity& similarity = group.similarities[i];
      const SimilarityCache::Row& goal = similarity.goal;
      const auto [place, added] =
          places.try_emplace(goal, static_cast<std::int64_t>(group.goals.size()));
      if (added) {
        Group::Goal known{.row = goal, .resident = goals_->Find(goal), .array = {}};
        if (!known.resident.defined()) known.array = batch.Add(goal->cosine);
        group.goals.push_back(std::move(known));
      }
      const std::int64_t row = members.rows[i];
      rows.push_back({.table = TableOf(inputs, row).get(),
                      .marks = spec_.candidate_marks > 0
                                   ? inputs.marks.Row(static_cast<std::size_t>(row))
                                   : std::span<const CandidateMark>(),
                      .goal = place->second,
                      .scale = similarity.scale,
                      .shift = similarity.shift,
                      .appended = similarity.appended});
    }
    group.candidates.emplace(*members.catalog, rows, spec_.candidate_marks, batch);
    group.members = std::move(members);
    groups.push_back(std::move(group));
  }
  return groups;
}

// Returns the cosines of the group's goals, [G, N].
at::Tensor BatchedPolicy::CosinesOf(const Group& group, const DeviceBatch& batch) const {
  const std::int64_t size = group.members.catalog->size();
  std::vector<at::Tensor> rows;
  for (const Group::Goal& goal : group.goals) {
    at::Tensor cosines = goal.resident;
    if (!cosines.defined()) {
      // A copy, so that the cosines do not keep the whole batch.
      cosines = batch.Get(goal.array, {size}).clone();
      goals_->Insert(goal.row, cosines);
    }
    rows.push_back(std::move(cosines));
  }
  return at::stack(rows);
}

PolicyOutputs BatchedPolicy::Act(const PolicyInputs& inputs, SimilarityCache& cache) const {
  const c10::OptionalStreamGuard on_stream(streams_.compute);
  PolicyOutputs outputs;
  const auto count = static_cast<std::size_t>(inputs.rows);
  outputs.action.assign(count, -1);
  outputs.log_probability.assign(count, 0.0F);
  if (spec_.action_values) outputs.action_value.assign(count, 0.0F);

  FrameUpload frames(device_, streams_.copies);
  at::Tensor convolved;
  if (spec_.has_convolution()) {
    frames.Send(inputs.frames, inputs.rows);
    // Before the rest of the batch is gathered, so that the device has work meanwhile.
    convolved = Convolve(frames);
  }
  DeviceBatch batch(device_);
  const Arrays arrays(spec_, inputs, batch);
  std::vector<Group> groups;
  if (spec_.has_candidates()) {
    groups = PlanCandidates(inputs, cache, batch);
  } else if (!spec_.has_box()) {
    CatalogRows all{.catalog = nullptr, .rows = std::vector<std::int64_t>(count)};
    std::iota(all.rows.begin(), all.rows.end(), 0);
    ChoiceBatch choices(inputs, all.rows, batch);
    groups.push_back({.members = std::move(all),
                      .which = {},
                      .choices = std::move(choices),
                      .candidates = {},
                      .goals = {},
                      .similarities = {}});
  }
  batch.Send();

  const at::Tensor alive = batch.Get(arrays.alive, {inputs.rows, 1});
  NetworkInputs tensors = Inputs(inputs, arrays, batch, alive);
  tensors.convolved = convolved;
  const at::Tensor features = network_.Features(tensors);
  at::Tensor hidden = network_.Torso(features);
  at::Tensor core_state;
  at::Tensor core;
  if (spec_.has_core()) {
    core_state = network_.Core(
        hidden, batch.Get(arrays.core_state, {inputs.rows, spec_.core_state_size()}).mul(alive));
    core = network_.CoreOutput(core_state);
    hidden = core;
  }
  hidden = network_.AtMean(hidden);
  const at::Tensor head = network_.Head(hidden);

  // In this order: the core's state, the values, the head of a box, then what each group has.
  std::vector<at::Tensor> down;
  if (core_state.defined()) down.push_back(core_state);
  if (!spec_.twin_critics) down.push_back(network_.Value(features, core));
  if (spec_.has_box()) down.push_back(head);
  at::Tensor mark_weights;
  if (spec_.candidate_marks > 0) mark_weights = network_.MarkWeights(hidden);
  for (const Group& group : groups) {
    at::Tensor logits = head;
    if (group.candidates) {
      const at::Tensor which =
          batch.Get(group.which, {static_cast<std::int64_t>(group.members.rows.size())});
      const auto keys = [this](const CandidateTable& table) { return keys_->Of(table, network_); };
      logits = group.candidates->Logits(
          batch, {.queries = head.index_select(0, which),
                  .mark_weights =
                      mark_weights.defined() ? mark_weights.index_select(0, which) : mark_weights,
                  .cosines = CosinesOf(group, batch),
                  .keys = keys});
    } else if (!inputs.legal.empty()) {
      const at::Tensor legal = batch.Get(arrays.legal, {inputs.rows, spec_.action_count});
      logits = head.masked_fill(legal.eq(0), kIllegalLogit);
    }
    const ChoiceBatch::Chosen chosen = group.choices.Of(batch, logits);
    down.push_back(chosen.action);
    down.push_back(chosen.log_probability);
    if (spec_.action_values) {
      const at::Tensor legal = logits.gt(kSurelyIllegalLogit);
      down.push_back(logits.amax(1));
      down.push_back(
          at::where(legal, logits, at::zeros_like(logits)).sum(1).div(legal.sum(1).clamp_min(1)));
      down.push_back(logits.gather(1, chosen.action.clamp_min(0).unsqueeze(1)).squeeze(1));
    }
    if (AnyBySimilarity(inputs, group.members.rows)) down.push_back(logits);
  }

  const std::vector<at::Tensor> host = ToHost(down);
  std::size_t next = 0;
  if (core_state.defined()) outputs.core_state = Assign(host[next++]);
  if (spec_.twin_critics) {
    outputs.value.assign(count, 0.0F);
  } else {
    outputs.value = Assign(host[next++]);
  }
  if (spec_.has_box()) ChooseBox(spec_, inputs, NumbersOf<float>(host[next++]), outputs);
  for (const Group& group : groups) next = Record(inputs, group, host, next, outputs);
  return outputs;
}

// Writes what a group chose, and returns the place of what follows in `host`.
std::size_t BatchedPolicy::Record(const PolicyInputs& inputs, const Group& group,
                                  const std::vector<at::Tensor>& host, std::size_t next,
                                  PolicyOutputs& outputs) const {
  const auto actions = NumbersOf<std::int64_t>(host[next++]);
  const auto logs = NumbersOf<float>(host[next++]);
  std::span<const float> greatest;
  std::span<const float> mean;
  std::span<const float> chosen;
  if (spec_.action_values) {
    greatest = NumbersOf<float>(host[next++]);
    mean = NumbersOf<float>(host[next++]);
    chosen = NumbersOf<float>(host[next++]);
  }
  const bool by_similarity = AnyBySimilarity(inputs, group.members.rows);
  const at::Tensor logits = by_similarity ? host[next++] : at::Tensor();
  for (std::size_t i = 0; i < actions.size(); ++i) {
    const std::int64_t row = group.members.rows[i];
    const auto r = static_cast<std::size_t>(row);
    outputs.action[r] = actions[i];
    outputs.log_probability[r] = logs[i];
    float number = spec_.action_values ? chosen[i] : 0.0F;
    if (inputs.choice[r] == Choice::kSimilarity) {
      const auto numbers = RowOf(logits, static_cast<std::int64_t>(i))
                               .first(static_cast<std::size_t>(TableOf(inputs, row)->size()));
      const auto similarity = [&group, i] { return group.similarities[i].Cosines(); };
      ChooseAction({.logits = numbers, .similarity = similarity}, inputs, row, outputs);
      number = numbers[static_cast<std::size_t>(outputs.action[r])];
    }
    if (spec_.action_values) {
      const ActionValueRow summary{.maximum = greatest[i], .mean = mean[i]};
      RecordActionValue(spec_, summary, number, row, outputs);
    }
  }
  return next;
}

}  // namespace shoal::model
