// SPDX-License-Identifier: Apache-2.0
#include "rl/model/policy.h"

#include <ATen/ops/_log_softmax.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>
#include <utility>

#include "rl/model/candidate_table_tensors.h"
#include "rl/model/choose.h"
#include "rl/model/key_cache.h"
#include "rl/model/network.h"
#include "rl/model/parameter_layout.h"
#include "rl/model/policy_inputs.h"
#include "rl/model/torch_guard.h"
#include "rl/model/torch_threads.h"

namespace shoal::model {
namespace {

using Rows = std::vector<std::int64_t>;

// A copy that torch allocated, so that its alignment never changes what a kernel does.
at::Tensor Copy(const std::vector<float>& values, at::IntArrayRef shape) {
  return at::from_blob(const_cast<float*>(values.data()), shape, at::kFloat).clone();
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

Rows RowsOfTable(const PolicyInputs& inputs, std::size_t table) {
  Rows rows;
  for (std::int64_t row = 0; row < inputs.rows; ++row) {
    if (inputs.table[static_cast<std::size_t>(row)] == static_cast<std::int32_t>(table) &&
        inputs.choice[static_cast<std::size_t>(row)] != Choice::kValueOnly) {
      rows.push_back(row);
    }
  }
  return rows;
}

}  // namespace

struct Policy::State {
  PolicySpec spec;
  ParameterLayout layout;
  at::Tensor flat;
  std::unique_ptr<const Network> network;
  std::shared_ptr<KeyCache> keys;

  NetworkInputs Tensors(const PolicyInputs& inputs, const at::Tensor& alive) const;
  void ChooseDiscrete(const PolicyInputs& inputs, const at::Tensor& head,
                      PolicyOutputs& outputs) const;
  void ChooseCandidates(const PolicyInputs& inputs, const at::Tensor& head, const at::Tensor& goals,
                        SimilarityCache& cache, PolicyOutputs& outputs) const;
};

NetworkInputs Policy::State::Tensors(const PolicyInputs& inputs, const at::Tensor& alive) const {
  const std::int64_t rows = inputs.rows;
  NetworkInputs tensors;
  tensors.observation = Copy(inputs.observation, {rows, spec.observation_size});
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
  return tensors;
}

void Policy::State::ChooseDiscrete(const PolicyInputs& inputs, const at::Tensor& head,
                                   PolicyOutputs& outputs) const {
  at::Tensor logits = head.contiguous();
  const auto n = static_cast<std::size_t>(spec.action_count);
  if (!inputs.legal.empty()) {
    const at::Tensor legal = at::from_blob(const_cast<std::uint8_t*>(inputs.legal.data()),
                                           {inputs.rows, spec.action_count}, at::kByte);
    logits = logits.masked_fill(legal.eq(0), kIllegalLogit);
  }
  const at::Tensor log_probabilities = at::_log_softmax(logits, 1, false);
  const at::Tensor probabilities = log_probabilities.exp();
  for (std::int64_t row = 0; row < inputs.rows; ++row) {
    const auto offset = static_cast<std::size_t>(row) * n;
    ChooseAction({.log_probabilities = {log_probabilities.data_ptr<float>() + offset, n},
                  .probabilities = {probabilities.data_ptr<float>() + offset, n},
                  .similarity = {}},
                 inputs, row, outputs);
  }
}

namespace {

SimilarityCache::Row CosinesOf(const CandidateTable& table, std::span<const std::uint8_t> goal_key,
                               const at::Tensor& goal, SimilarityCache& cache) {
  SimilarityCache::Row found = cache.Find(table, goal_key);
  if (found != nullptr) return found;
  auto cosines = std::make_shared<Cosines>();
  CopyOut(OwnCosines(table, goal), cosines->values);
  for (const float value : cosines->values) {
    cosines->sum += static_cast<double>(value);
    cosines->square_sum += static_cast<double>(value) * static_cast<double>(value);
  }
  cache.Insert(table, goal_key, cosines);
  return cosines;
}

// The cosines of one goal with all candidates of a table, standardised over the legal ones.
class GoalSimilarity {
 public:
  GoalSimilarity(const CandidateTable& table, std::span<const std::uint8_t> goal_key,
                 const at::Tensor& goal, SimilarityCache& cache)
      : removed_(table.tensors().removed) {
    const CandidateTable* const base = table.tensors().base.get();
    if (base != nullptr) blocks_.push_back(CosinesOf(*base, goal_key, goal, cache));
    if (base == nullptr || table.size() > base->size()) {
      blocks_.push_back(CosinesOf(table, goal_key, goal, cache));
    }
    double sum = 0;
    double square_sum = 0;
    for (const SimilarityCache::Row& block : blocks_) {
      sum += block->sum;
      square_sum += block->square_sum;
    }
    for (const std::int64_t index : removed_) {
      const double value = At(static_cast<std::size_t>(index));
      sum -= value;
      square_sum -= value * value;
    }
    const auto count = static_cast<double>(table.legal_count());
    mean_ = sum / count;
    const double deviation = std::sqrt(std::max(0.0, square_sum / count - mean_ * mean_));
    scale_ = deviation < 1e-6 ? 0 : 1 / deviation;
  }

  // Writes `weight` times each similarity, and kIllegalLogit where a candidate is removed.
  void Write(double weight, float* out) const {
    const auto factor = static_cast<float>(weight * scale_);
    const auto mean = static_cast<float>(mean_);
    float* next = out;
    for (const SimilarityCache::Row& block : blocks_) {
      for (const float value : block->values) *next++ = factor * (value - mean);
    }
    for (const std::int64_t index : removed_) out[index] = kIllegalLogit;
  }

 private:
  double At(std::size_t index) const {
    const std::vector<float>& first = blocks_.front()->values;
    return static_cast<double>(index < first.size() ? first[index]
                                                    : blocks_.back()->values[index - first.size()]);
  }

  const std::vector<std::int64_t>& removed_;
  std::vector<SimilarityCache::Row> blocks_;
  double mean_ = 0;
  double scale_ = 0;
};

}  // namespace

void Policy::State::ChooseCandidates(const PolicyInputs& inputs, const at::Tensor& head,
                                     const at::Tensor& goals, SimilarityCache& cache,
                                     PolicyOutputs& outputs) const {
  for (std::size_t t = 0; t < inputs.tables.size(); ++t) {
    const Rows rows = RowsOfTable(inputs, t);
    if (rows.empty()) continue;
    const CandidateTable& table = *inputs.tables[t];
    const auto n = static_cast<std::size_t>(table.size());
    const auto count = static_cast<std::int64_t>(rows.size());
    std::vector<GoalSimilarity> similarities;
    at::Tensor logits = at::empty({count, table.size()}, at::kFloat);
    at::Tensor queries = at::empty({count, spec.projection_size}, at::kFloat);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto key = std::span(inputs.goal_keys).subspan(static_cast<std::size_t>(rows[i]) * 16);
      similarities.emplace_back(table, key.first(16), goals.narrow(0, rows[i], 1), cache);
      similarities.back().Write(spec.similarity_weight, logits.data_ptr<float>() + i * n);
      queries[static_cast<std::int64_t>(i)].copy_(head[rows[i]]);
    }
    AddProducts(queries, keys->Of(table, *network), logits);
    const at::Tensor log_probabilities = at::_log_softmax(logits, 1, false);
    const at::Tensor probabilities = log_probabilities.exp();
    std::vector<float> similarity;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (inputs.choice[static_cast<std::size_t>(rows[i])] == Choice::kSimilarity) {
        similarity.resize(n);
        similarities[i].Write(1, similarity.data());
      }
      ChooseAction({.log_probabilities = {log_probabilities.data_ptr<float>() + i * n, n},
                    .probabilities = {probabilities.data_ptr<float>() + i * n, n},
                    .similarity = similarity},
                   inputs, rows[i], outputs);
    }
  }
}

Policy::Policy(std::unique_ptr<const State> state) : state_(std::move(state)) {}
Policy::~Policy() = default;

const PolicySpec& Policy::spec() const { return state_->spec; }

absl::StatusOr<std::shared_ptr<const Policy>> Policy::FromSafetensors(const PolicySpec& spec,
                                                                      std::string_view bytes,
                                                                      const Policy* previous) {
  SHOAL_RETURN_IF_ERROR(spec.Validate());
  return GuardTorch("policy", [&]() -> absl::StatusOr<std::shared_ptr<const Policy>> {
    ApplyTorchThreads();
    const c10::InferenceMode inference;
    auto state = std::make_unique<State>();
    state->spec = spec;
    state->layout = ParameterLayout::Of(spec);
    state->flat = at::empty({state->layout.total}, at::kFloat);
    const std::span<float> flat(state->flat.data_ptr<float>(),
                                static_cast<std::size_t>(state->layout.total));
    SHOAL_RETURN_IF_ERROR(state->layout.Read(bytes, spec, flat));
    state->network =
        std::make_unique<Network>(spec, state->layout, state->flat, /*gradient=*/at::Tensor());
    if (spec.has_candidates()) {
      const bool same = previous != nullptr && previous->state_->spec.has_candidates() &&
                        previous->state_->network->key().equal(state->network->key());
      state->keys = same ? previous->state_->keys : std::make_shared<KeyCache>();
    }
    return std::shared_ptr<const Policy>(new Policy(std::move(state)));
  });
}

absl::StatusOr<PolicyOutputs> Policy::Act(const PolicyInputs& inputs,
                                          SimilarityCache& cache) const {
  const State& state = *state_;
  SHOAL_RETURN_IF_ERROR(CheckInputs(state.spec, inputs));
  PolicyOutputs outputs;
  const auto rows = static_cast<std::size_t>(inputs.rows);
  outputs.action.assign(rows, -1);
  outputs.log_probability.assign(rows, 0.0F);
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
          Copy(inputs.core_state, {inputs.rows, state.spec.core_size}).mul_(alive);
      core = state.network->Core(hidden, before);
      hidden = core;
      CopyOut(core, outputs.core_state);
    }
    CopyOut(state.network->Value(features, core), outputs.value);
    const at::Tensor head = state.network->Head(hidden);
    if (state.spec.has_candidates()) {
      const at::Tensor& goals = tensors.contents[static_cast<std::size_t>(state.spec.goal_index())];
      state.ChooseCandidates(inputs, head, goals, cache, outputs);
    } else {
      state.ChooseDiscrete(inputs, head, outputs);
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

}  // namespace shoal::model
