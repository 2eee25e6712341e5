// SPDX-License-Identifier: Apache-2.0
#include "rl/model/policy.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/mm.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <map>
#include <string>
#include <utility>

#include "rl/model/action_values.h"
#include "rl/model/batched_policy.h"
#include "rl/model/box_actions.h"
#include "rl/model/candidate_softmax.h"
#include "rl/model/candidate_table_tensors.h"
#include "rl/model/catalog_rows.h"
#include "rl/model/inner_products.h"
#include "rl/model/key_cache.h"
#include "rl/model/network.h"
#include "rl/model/parameter_layout.h"
#include "rl/model/torch_device.h"
#include "rl/model/torch_guard.h"
#include "rl/model/torch_threads.h"

namespace shoal::model {

namespace {

// Makes a copy that torch allocates, so that alignment never changes what a kernel computes.
at::Tensor Copy(const std::vector<float>& values, at::IntArrayRef shape) {
  return at::from_blob(const_cast<float*>(values.data()), shape, at::kFloat).clone();
}

at::Tensor Copy(const std::pmr::vector<std::uint8_t>& bytes, at::IntArrayRef shape) {
  return at::from_blob(const_cast<std::uint8_t*>(bytes.data()), shape, at::kByte).clone();
}

at::Tensor Copy(const std::vector<std::uint16_t>& halves, at::IntArrayRef shape) {
  return at::from_blob(const_cast<std::uint16_t*>(halves.data()), shape, at::kHalf).to(at::kFloat);
}

template <typename T>
void CopyOut(const at::Tensor& tensor, std::vector<T>& out) {
  const at::Tensor contiguous = tensor.contiguous();
  out.resize(static_cast<std::size_t>(contiguous.numel()));
  if (!out.empty()) std::memcpy(out.data(), contiguous.data_ptr<T>(), out.size() * sizeof(T));
}

// Writes the products of queries [r, P] and keys [N, P] into the first N columns of `logits`.
void MultiplyKeys(const at::Tensor& keys, const at::Tensor& queries, const at::Tensor& logits) {
  // With more rows a library's product pays for the copy that it makes of the keys.
  constexpr std::int64_t kFewRows = 32;
  if (queries.size(0) > kFewRows) {
    at::Tensor out = logits.narrow(1, 0, keys.size(0));
    at::mm_out(out, queries, keys.t());
    return;
  }
  const auto size = static_cast<std::size_t>(keys.size(1));
  InnerProducts(FloatRows{.values = FloatsOf(keys), .stride = size, .size = size},
                FloatsOf(queries), FloatsOf(logits), static_cast<std::size_t>(logits.size(1)));
}

void RecordActionValues(const PolicySpec& spec, std::span<const float> head, std::int64_t row,
                        PolicyOutputs& outputs) {
  const std::int64_t action = outputs.action[static_cast<std::size_t>(row)];
  const float chosen = action < 0 ? 0.0F : head[static_cast<std::size_t>(action)];
  RecordActionValue(spec, SummariseActionValues(head), chosen, row, outputs);
}

}  // namespace

struct Policy::State {
  PolicySpec spec;
  ParameterLayout layout;
  at::Tensor flat;
  // Evaluates whole batches instead of what follows it.
  std::unique_ptr<const BatchedPolicy> batched;
  std::unique_ptr<const Network> network;
  std::shared_ptr<const KeyCache> keys;

  // What the head makes of each row.
  struct HeadOutputs {
    at::Tensor queries;       // [B, P]; [B, n] of a discrete head; [B, 2n] of a box
    at::Tensor mark_weights;  // [B, K]; undefined when K is 0
  };

  NetworkInputs Tensors(const PolicyInputs& inputs, const at::Tensor& alive) const;
  void ChooseDiscrete(const PolicyInputs& inputs, const at::Tensor& head,
                      PolicyOutputs& outputs) const;
  void ChooseCandidates(const PolicyInputs& inputs, const HeadOutputs& head,
                        const at::Tensor& goals, SimilarityCache& cache,
                        PolicyOutputs& outputs) const;
  void ChooseAmong(const CatalogRows& group, const PolicyInputs& inputs, const HeadOutputs& head,
                   const at::Tensor& goals, SimilarityCache& cache, PolicyOutputs& outputs) const;
};

NetworkInputs Policy::State::Tensors(const PolicyInputs& inputs, const at::Tensor& alive) const {
  const std::int64_t rows = inputs.rows;
  NetworkInputs tensors;
  tensors.observation = spec.has_convolution()
                            ? Copy(inputs.frames, {rows, spec.frame_size()})
                            : Copy(inputs.observation, {rows, spec.number_count()});
  const std::int64_t fields = spec.content_count();
  if (fields > 0) {
    const at::Tensor contents = Copy(inputs.contents, {rows, fields, spec.embedding_size});
    for (std::int64_t f = 0; f < fields; ++f) {
      tensors.contents.push_back(contents.select(1, f).contiguous());
    }
  }
  if (spec.past_requests) {
    tensors.past_requests = Copy(inputs.past_requests, {rows, spec.embedding_size}).mul_(alive);
  }
  if (spec.candidate_marks > 0) {
    tensors.mark_counts = at::empty({rows, spec.candidate_marks}, at::kFloat);
    const auto kinds = static_cast<std::size_t>(spec.candidate_marks);
    for (std::size_t row = 0; row < static_cast<std::size_t>(rows); ++row) {
      CountMarks(inputs.marks.Row(row), FloatsOf(tensors.mark_counts).subspan(row * kinds, kinds));
    }
  }
  return tensors;
}

void Policy::State::ChooseDiscrete(const PolicyInputs& inputs, const at::Tensor& head,
                                   PolicyOutputs& outputs) const {
  at::Tensor logits = head.contiguous();
  if (!inputs.legal.empty()) {
    const at::Tensor legal = at::from_blob(const_cast<std::uint8_t*>(inputs.legal.data()),
                                           {inputs.rows, spec.action_count}, at::kByte);
    logits = logits.masked_fill(legal.eq(0), kIllegalLogit);
  }
  for (std::int64_t row = 0; row < inputs.rows; ++row) {
    const std::span<const float> out = RowOf(logits, row);
    ChooseAction({.logits = out, .similarity = {}}, inputs, row, outputs);
    if (spec.action_values) RecordActionValues(spec, out, row, outputs);
  }
}

void Policy::State::ChooseCandidates(const PolicyInputs& inputs, const HeadOutputs& head,
                                     const at::Tensor& goals, SimilarityCache& cache,
                                     PolicyOutputs& outputs) const {
  for (const CatalogRows& group : RowsByCatalog(spec, inputs)) {
    ChooseAmong(group, inputs, head, goals, cache, outputs);
  }
}

void Policy::State::ChooseAmong(const CatalogRows& group, const PolicyInputs& inputs,
                                const HeadOutputs& head, const at::Tensor& goals,
                                SimilarityCache& cache, PolicyOutputs& outputs) const {
  const auto similarities = Similarities(spec, group, inputs, goals, cache);
  const std::int64_t size = group.catalog->size();
  std::int64_t widest = size;
  for (const std::int64_t row : group.rows) widest = std::max(widest, TableOf(inputs, row)->size());
  const auto count = static_cast<std::int64_t>(group.rows.size());
  const at::Tensor which =
      at::from_blob(const_cast<std::int64_t*>(group.rows.data()), {count}, at::kLong);
  const at::Tensor queries = head.queries.index_select(0, which);  // [r, P]
  // An overlay's candidates follow those of its catalog within the same row.
  const at::Tensor logits = at::empty({count, widest}, at::kFloat);
  MultiplyKeys(keys->Of(*group.catalog, *network), queries, logits);
  for (std::size_t i = 0; i < group.rows.size(); ++i) {
    const std::int64_t row = group.rows[i];
    const auto& table = TableOf(inputs, row);
    const GoalSimilarity& similarity = similarities[i];
    const std::vector<float>& cosine = similarity.goal->cosine;
    const std::vector<float>& appended = similarity.appended;
    const std::span<float> out(logits.data_ptr<float>() + static_cast<std::int64_t>(i) * widest,
                               static_cast<std::size_t>(table->size()));
    AddSimilarity(out.first(cosine.size()), cosine, similarity.scale, similarity.shift);
    if (!appended.empty()) {
      const at::Tensor own = keys->Of(*table, *network);
      const std::span<const float> query = RowOf(queries, static_cast<std::int64_t>(i));
      for (std::size_t c = 0; c < appended.size(); ++c) {
        out[cosine.size() + c] = Dot(query, RowOf(own, static_cast<std::int64_t>(c))) +
                                 similarity.scale * appended[c] + similarity.shift;
      }
    }
    if (head.mark_weights.defined()) {
      AddMarkWeights(inputs.marks.Row(static_cast<std::size_t>(row)), RowOf(head.mark_weights, row),
                     out);
    }
    for (const std::int32_t removed : table->removed()) {
      out[static_cast<std::size_t>(removed)] = kIllegalLogit;
    }
    ChooseAction({.logits = out, .similarity = [&similarity] { return similarity.Cosines(); }},
                 inputs, row, outputs);
    if (spec.action_values) RecordActionValues(spec, out, row, outputs);
  }
}

Policy::Policy(std::unique_ptr<const State> state) : state_(std::move(state)) {}
Policy::~Policy() = default;

const PolicySpec& Policy::spec() const { return state_->spec; }

absl::StatusOr<std::shared_ptr<const Policy>> Policy::FromSafetensors(const PolicySpec& spec,
                                                                      std::string_view bytes,
                                                                      const Policy* previous,
                                                                      const ComputeDevice& device) {
  SHOAL_RETURN_IF_ERROR(spec.Validate());
  return GuardTorch("policy", [&]() -> absl::StatusOr<std::shared_ptr<const Policy>> {
    ApplyTorchThreads();
    const c10::InferenceMode inference;
    auto state = std::make_unique<State>();
    state->spec = spec;
    state->layout = ParameterLayout::Of(spec);
    state->flat = at::empty({state->layout.total}, at::kFloat);
    SHOAL_RETURN_IF_ERROR(state->layout.Read(bytes, spec, FloatsOf(state->flat)));
    if (device.whole_batches) {
      SHOAL_ASSIGN_OR_RETURN(const at::Device place, FindDevice(device.name));
      state->batched = std::make_unique<BatchedPolicy>(
          spec, state->layout, state->flat.to(place),
          BatchedPolicy::Options{
              .precision = device.precision,
              .graphs = device.graphs,
              .previous = previous == nullptr ? nullptr : previous->state_->batched.get()});
      return std::shared_ptr<const Policy>(new Policy(std::move(state)));
    }
    state->network =
        std::make_unique<Network>(spec, state->layout, state->flat, /*gradient=*/at::Tensor());
    state->keys = previous == nullptr
                      ? KeyCache::For(*state->network, nullptr, nullptr)
                      : KeyCache::For(*state->network, previous->state_->network.get(),
                                      previous->state_->keys);
    return std::shared_ptr<const Policy>(new Policy(std::move(state)));
  });
}

absl::StatusOr<PolicyOutputs> Policy::Act(const PolicyInputs& inputs,
                                          SimilarityCache& cache) const {
  const State& state = *state_;
  SHOAL_RETURN_IF_ERROR(CheckInputs(state.spec, inputs));
  if (state.batched != nullptr && inputs.rows > 0) {
    return GuardTorch("policy", [&]() -> absl::StatusOr<PolicyOutputs> {
      const c10::InferenceMode inference;
      return state.batched->Act(inputs, cache);
    });
  }
  PolicyOutputs outputs;
  const auto rows = static_cast<std::size_t>(inputs.rows);
  outputs.action.assign(rows, -1);
  outputs.log_probability.assign(rows, 0.0F);
  if (state.spec.action_values) outputs.action_value.assign(rows, 0.0F);
  if (rows == 0) return outputs;
  const absl::Status acted = GuardTorch("policy", [&] {
    const c10::InferenceMode inference;
    std::vector<float> alive_values;
    for (const std::uint8_t first : inputs.first) alive_values.push_back(first != 0 ? 0.0F : 1.0F);
    const at::Tensor alive = Copy(alive_values, {inputs.rows, 1});
    const NetworkInputs tensors = state.Tensors(inputs, alive);
    const at::Tensor features = state.network->Features(tensors);
    at::Tensor hidden = state.network->Torso(features);
    at::Tensor core;
    if (state.spec.has_core()) {
      const at::Tensor before =
          Copy(inputs.core_state, {inputs.rows, state.spec.core_state_size()}).mul_(alive);
      const at::Tensor after = state.network->Core(hidden, before);
      CopyOut(after, outputs.core_state);
      core = state.network->CoreOutput(after);
      hidden = core;
    }
    if (state.spec.acts_by_critic()) {
      CopyOut(state.network->Value(features, core), outputs.value);
    } else {
      outputs.value.assign(rows, 0.0F);
    }
    hidden = state.network->AtMean(hidden);
    State::HeadOutputs head = {.queries = state.network->ActingHead(tensors, features, hidden),
                               .mark_weights = {}};
    if (state.spec.candidate_marks > 0) {
      head.mark_weights = state.network->MarkWeights(hidden).contiguous();
    }
    if (state.spec.has_candidates()) {
      const at::Tensor& goals =
          tensors.contents[static_cast<std::size_t>(state.spec.similarity_index())];
      state.ChooseCandidates(inputs, head, goals, cache, outputs);
    } else if (state.spec.has_box()) {
      const at::Tensor numbers = head.queries.contiguous();
      ChooseBox(state.spec, inputs, FloatsOf(numbers), outputs);
    } else {
      state.ChooseDiscrete(inputs, head.queries, outputs);
    }
    return absl::OkStatus();
  });
  SHOAL_RETURN_IF_ERROR(acted);
  return outputs;
}

absl::StatusOr<std::string> InitialParameters(const PolicySpec& spec, std::uint64_t seed) {
  SHOAL_RETURN_IF_ERROR(spec.Validate());
  const ParameterLayout layout = ParameterLayout::Of(spec);
  std::vector<float> flat(static_cast<std::size_t>(layout.total));
  layout.Initialise(seed, flat);
  return layout.Write(flat, spec, {});
}

namespace {

absl::Status CheckSize(const char* name, std::size_t size, std::int64_t expected) {
  if (size == static_cast<std::size_t>(expected)) return absl::OkStatus();
  return runtime::InvalidArgument(std::string("policy inputs: ") + name + " has " +
                                  std::to_string(size) + " elements instead of " +
                                  std::to_string(expected));
}

absl::Status BadRow(const char* what, std::size_t row) {
  return runtime::InvalidArgument(std::string("policy inputs: ") + what + " of row " +
                                  std::to_string(row) + " is out of range");
}

absl::Status CheckRow(const PolicySpec& spec, const PolicyInputs& inputs, std::size_t row) {
  if (!(inputs.draw[row] >= 0 && inputs.draw[row] < 1)) return BadRow("draw", row);
  std::int64_t actions = spec.action_count;
  if (spec.has_candidates()) {
    const bool marked = spec.candidate_marks > 0;
    if (marked && !AreValid(inputs.marks.Row(row), kAnyCandidate, spec.candidate_marks)) {
      return BadRow("a mark", row);
    }
    const std::int32_t table = inputs.table[row];
    if (inputs.choice[row] == Choice::kValueOnly && !spec.action_values) return absl::OkStatus();
    if (table < 0 || static_cast<std::size_t>(table) >= inputs.tables.size()) {
      return BadRow("table", row);
    }
    actions = inputs.tables[static_cast<std::size_t>(table)]->size();
    const auto marks = marked ? inputs.marks.Row(row) : std::span<const CandidateMark>();
    if (!marks.empty() && marks.back().candidate >= actions) return BadRow("a mark", row);
  }
  if (spec.has_box()) {
    const Choice choice = inputs.choice[row];
    const bool numbered = choice == Choice::kForced || choice == Choice::kEpsilonGreedy ||
                          choice == Choice::kSimilarity;
    if (numbered) return BadRow("choice", row);
    const auto width = static_cast<std::size_t>(2 * spec.action_count);
    for (const double draw : std::span(inputs.box_draws).subspan(row * width, width)) {
      if (!(draw >= 0 && draw < 1)) return BadRow("box_draws", row);
    }
    return absl::OkStatus();
  }
  switch (inputs.choice[row]) {
    case Choice::kEpsilonGreedy:
      if (row >= inputs.epsilon.size() || !(inputs.epsilon[row] >= 0 && inputs.epsilon[row] <= 1)) {
        return BadRow("epsilon", row);
      }
      return absl::OkStatus();
    case Choice::kForced:
      if (row >= inputs.forced_action.size() || inputs.forced_action[row] < 0 ||
          inputs.forced_action[row] >= actions) {
        return BadRow("forced_action", row);
      }
      return absl::OkStatus();
    case Choice::kSimilarity:
      if (!spec.has_candidates() || row >= inputs.similarity_rank.size() ||
          inputs.similarity_rank[row] < 0) {
        return BadRow("similarity_rank", row);
      }
      return absl::OkStatus();
    default:
      return absl::OkStatus();
  }
}

}  // namespace

absl::Status CheckInputs(const PolicySpec& spec, const PolicyInputs& inputs) {
  const std::int64_t rows = inputs.rows;
  if (rows < 0) return runtime::InvalidArgument("policy inputs: negative number of rows");
  const std::int64_t size = spec.embedding_size;
  SHOAL_RETURN_IF_ERROR(
      CheckSize("observation", inputs.observation.size(), rows * spec.number_count()));
  SHOAL_RETURN_IF_ERROR(CheckSize("frames", inputs.frames.size(), rows * spec.frame_size()));
  SHOAL_RETURN_IF_ERROR(
      CheckSize("contents", inputs.contents.size(), rows * spec.content_count() * size));
  if (spec.past_requests) {
    SHOAL_RETURN_IF_ERROR(CheckSize("past_requests", inputs.past_requests.size(), rows * size));
  }
  SHOAL_RETURN_IF_ERROR(
      CheckSize("core_state", inputs.core_state.size(), rows * spec.core_state_size()));
  SHOAL_RETURN_IF_ERROR(CheckSize("first", inputs.first.size(), rows));
  SHOAL_RETURN_IF_ERROR(CheckSize("choice", inputs.choice.size(), rows));
  SHOAL_RETURN_IF_ERROR(CheckSize("draw", inputs.draw.size(), rows));
  if (spec.has_candidates()) {
    SHOAL_RETURN_IF_ERROR(CheckSize("table", inputs.table.size(), rows));
    SHOAL_RETURN_IF_ERROR(CheckSize("goal_keys", inputs.goal_keys.size(), rows * 16));
    if (spec.candidate_marks > 0) {
      SHOAL_RETURN_IF_ERROR(CheckSize("marks", inputs.marks.rows(), rows));
    }
    for (const auto& table : inputs.tables) {
      if (table == nullptr || table->embedding_size() != size) {
        return runtime::InvalidArgument("policy inputs: a table is null or of another dimension");
      }
    }
  } else if (spec.has_box()) {
    SHOAL_RETURN_IF_ERROR(
        CheckSize("box_draws", inputs.box_draws.size(), rows * spec.action_count * 2));
  } else if (!inputs.legal.empty()) {
    SHOAL_RETURN_IF_ERROR(CheckSize("legal", inputs.legal.size(), rows * spec.action_count));
  }
  for (std::size_t row = 0; row < static_cast<std::size_t>(rows); ++row) {
    SHOAL_RETURN_IF_ERROR(CheckRow(spec, inputs, row));
  }
  return absl::OkStatus();
}

void RecordActionValue(const PolicySpec& spec, const ActionValueRow& summary, float chosen,
                       std::int64_t row, PolicyOutputs& outputs) {
  const auto r = static_cast<std::size_t>(row);
  const bool adds_critic = spec.dueling && spec.acts_by_critic();
  const float base = adds_critic ? outputs.value[r] - summary.mean : 0.0F;
  outputs.action_value[r] = outputs.action[r] < 0 ? 0.0F : base + chosen;
  outputs.value[r] = base + summary.maximum;
}

namespace {

std::size_t Sample(std::span<const float> logits, const SoftmaxRow& softmax, double draw) {
  thread_local std::vector<float> weights;
  weights.resize(logits.size());
  Exponentials(logits, softmax.maximum, weights);
  const double target = draw * softmax.sum;
  double cumulative = 0;
  std::size_t last = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (!(weights[i] > 0)) continue;
    cumulative += weights[i];
    last = i;
    if (cumulative > target) break;
  }
  return last;
}

std::vector<std::size_t> LegalActions(std::span<const float> logits) {
  std::vector<std::size_t> legal;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    if (logits[i] > kSurelyIllegalLogit) legal.push_back(i);
  }
  return legal;
}

std::size_t Greatest(std::span<const float> logits) {
  return static_cast<std::size_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

// A draw below epsilon also chooses among the legal actions, and any other one is greedy.
void ChooseEpsilonGreedy(std::span<const float> logits, double epsilon, double draw,
                         std::int64_t row, PolicyOutputs& outputs) {
  const std::vector<std::size_t> legal = LegalActions(logits);
  if (legal.empty()) return;
  const auto r = static_cast<std::size_t>(row);
  const auto count = static_cast<double>(legal.size());
  const std::size_t greedy = Greatest(logits);
  std::size_t action = greedy;
  if (draw < epsilon) {
    const auto place = static_cast<std::size_t>(draw / epsilon * count);
    action = legal[std::min(place, legal.size() - 1)];
  }
  const double probability = epsilon / count + (action == greedy ? 1 - epsilon : 0);
  outputs.action[r] = static_cast<std::int64_t>(action);
  outputs.log_probability[r] = static_cast<float>(std::log(probability));
}

std::size_t MostSimilar(std::span<const float> logits, std::span<const float> similarity,
                        std::int64_t rank) {
  std::vector<std::size_t> order = LegalActions(logits);
  if (order.empty()) return 0;
  const auto chosen = order.begin() + rank % static_cast<std::int64_t>(order.size());
  std::nth_element(order.begin(), chosen, order.end(), [&](std::size_t a, std::size_t b) {
    return similarity[a] != similarity[b] ? similarity[a] > similarity[b] : a < b;
  });
  return *chosen;
}

}  // namespace

void ChooseAction(const RowLogits& row_logits, const PolicyInputs& inputs, std::int64_t row,
                  PolicyOutputs& outputs) {
  const auto r = static_cast<std::size_t>(row);
  const std::span<const float> logits = row_logits.logits;
  if (inputs.choice[r] == Choice::kValueOnly) return;
  if (inputs.choice[r] == Choice::kUniform || inputs.choice[r] == Choice::kEpsilonGreedy) {
    const double epsilon = inputs.choice[r] == Choice::kUniform ? 1.0 : inputs.epsilon[r];
    ChooseEpsilonGreedy(logits, epsilon, inputs.draw[r], row, outputs);
    return;
  }
  const SoftmaxRow softmax = Summarise(logits);
  std::size_t action = 0;
  switch (inputs.choice[r]) {
    case Choice::kSample:
      action = Sample(logits, softmax, inputs.draw[r]);
      break;
    case Choice::kForced:
      action = static_cast<std::size_t>(inputs.forced_action[r]);
      break;
    case Choice::kSimilarity:
      action = MostSimilar(logits, row_logits.similarity(), inputs.similarity_rank[r]);
      break;
    default:
      action = Greatest(logits);
  }
  outputs.action[r] = static_cast<std::int64_t>(action);
  outputs.log_probability[r] = static_cast<float>(softmax.LogProbability(logits[action]));
}

}  // namespace shoal::model
