// SPDX-License-Identifier: Apache-2.0
#include "rl/algorithms/policy_gradient.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/argmax.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/stack.h>

#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "rl/algorithms/policy_loss.h"
#include "rl/model/candidate_table_tensors.h"

namespace shoal::algorithms {
namespace {

// Elements of the logits of a chunk: what stays in a core's cache.
constexpr std::int64_t kChunkElements = 384 * 1024;

at::Tensor Indices(std::span<const std::int64_t> values) {
  auto* const data = const_cast<std::int64_t*>(values.data());
  return at::from_blob(data, {static_cast<std::int64_t>(values.size())}, at::kLong).clone();
}

at::Tensor KeyGradient(const model::ParameterLayout& layout, const at::Tensor& gradient) {
  const model::ParameterInfo* const key = layout.Find("key");
  if (key == nullptr || key->offset >= layout.trainable) return {};
  return gradient.narrow(0, key->offset, key->size).view(key->shape);
}

}  // namespace

PolicyGradient::PolicyGradient(const model::PolicySpec& spec, const model::ParameterLayout& layout,
                               const AlgorithmOptions& options, const at::Tensor& flat,
                               const at::Tensor& gradient)
    : spec_(spec),
      options_(options),
      network_(spec, layout, flat, gradient),
      key_gradient_(KeyGradient(layout, gradient)) {}

at::Tensor PolicyGradient::Unroll(const UpdateData& data, std::span<const std::int64_t> columns,
                                  const at::Tensor& torso) const {
  const at::Tensor which = Indices(columns);
  const at::Tensor steps = torso.view({data.batch.length, which.size(0), torso.size(1)});
  const at::Tensor alive = data.tensors.alive.index_select(1, which);
  at::Tensor state = data.tensors.core_state.index_select(0, which);
  std::vector<at::Tensor> states;
  for (std::int64_t t = 0; t < data.batch.length; ++t) {
    state = network_.Core(steps[t], state.mul(alive[t]));
    states.push_back(state);
  }
  return at::stack(states).view({data.batch.length * which.size(0), spec_.core_size});
}

PolicyGradient::Forward PolicyGradient::Evaluate(const UpdateData& data,
                                                 std::span<const std::int64_t> items) const {
  Forward forward;
  if (spec_.has_core()) {
    for (std::int64_t t = 0; t < data.batch.length; ++t) {
      for (const std::int64_t column : items) {
        forward.rows.push_back(t * data.batch.columns + column);
      }
    }
  } else {
    forward.rows.assign(items.begin(), items.end());
  }
  const at::Tensor features = network_.Features(data.tensors.Select(spec_, Indices(forward.rows)));
  at::Tensor hidden = network_.Torso(features);
  at::Tensor core;
  if (spec_.has_core()) {
    core = Unroll(data, items, hidden);
    hidden = core;
  }
  forward.head = network_.Head(hidden);
  forward.value = network_.Value(features, core);
  return forward;
}

CategoricalDerivatives PolicyGradient::RowLoss(const UpdateData& data, std::size_t row,
                                               double log_probability, double entropy,
                                               MinibatchSums& sums) const {
  const double weight = data.advantages.weight[row];
  if (weight == 0) return {};
  sums.entropy() += weight * entropy;
  if (data.demonstrated) {
    const PolicyLoss copied = CloningLoss(log_probability);
    sums.policy_loss() += weight * copied.loss;
    return {.by_log_probability = weight * copied.by_log_probability};
  }
  const double advantage = data.advantages.advantage[row];
  const double behaviour = data.batch.behaviour_log_probability[row];
  const PolicyLoss ppo = ClippedPolicyLoss(log_probability, behaviour, advantage,
                                           {.near = options_.clip, .far = options_.dual_clip});
  const PolicyLoss used = options_.name == "ppo" ? ppo : ReinforceLoss(log_probability, advantage);
  sums.policy_loss() += weight * used.loss;
  sums.kl() += weight * (ppo.ratio - 1 - std::log(ppo.ratio));
  sums.clipped() += ppo.clipped ? weight : 0;
  return {.by_log_probability = weight * used.by_log_probability,
          .by_entropy = -weight * options_.entropy};
}

at::Tensor PolicyGradient::LogitGradient(const UpdateData& data, const Forward& forward,
                                         std::span<const std::int64_t> positions,
                                         at::Tensor& logits, MinibatchSums& sums) const {
  std::vector<std::size_t> rows;
  std::vector<std::int64_t> actions;
  for (const std::int64_t position : positions) {
    rows.push_back(static_cast<std::size_t>(forward.rows[static_cast<std::size_t>(position)]));
    // A row of weight 0 may hold none.
    actions.push_back(std::max<std::int64_t>(data.batch.action[rows.back()], 0));
  }
  if (data.demonstrated) {
    const at::Tensor greedy = at::argmax(logits, 1);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const bool agrees = greedy.data_ptr<std::int64_t>()[i] == actions[i];
      sums.agreed() += agrees ? static_cast<double>(data.advantages.weight[rows[i]]) : 0;
    }
  }
  const auto loss = [&](std::size_t i, double log_probability, double entropy) {
    return RowLoss(data, rows[i], log_probability, entropy, sums);
  };
  return CategoricalGradient(logits, actions, loss);
}

at::Tensor PolicyGradient::DiscreteGradient(const UpdateData& data, const Forward& forward,
                                            MinibatchSums& sums) {
  at::Tensor logits = forward.head.detach().clone();
  if (data.tensors.illegal.defined()) {
    const at::Tensor illegal = data.tensors.illegal.index_select(0, Indices(forward.rows));
    logits.masked_fill_(illegal, model::kIllegalLogit);
  }
  std::vector<std::int64_t> positions(forward.rows.size());
  for (std::size_t i = 0; i < positions.size(); ++i) positions[i] = static_cast<std::int64_t>(i);
  return LogitGradient(data, forward, positions, logits, sums);
}

model::Blocks PolicyGradient::Keys(const model::Blocks& embeddings) const {
  model::Blocks keys;
  for (const at::Tensor& block : embeddings) keys.push_back(network_.Keys(block));
  return keys;
}

void PolicyGradient::AddTable(const UpdateData& data, const Forward& forward, std::size_t table,
                              std::span<const std::int64_t> positions, at::Tensor& by_query,
                              MinibatchSums& sums) {
  const auto& candidates = data.batch.tables[table];
  const auto count = static_cast<std::int64_t>(positions.size());
  const std::int64_t wide = candidates->embedding_size();
  const std::int64_t narrow = spec_.projection_size;
  const bool trained = key_gradient_.defined();
  const model::Blocks embeddings = model::EmbeddingBlocks(*candidates);  // [*, D] each
  // Few rows: project the queries up rather than all candidates down.
  const bool direct = trained && 4 * count * wide < 4 * wide * narrow + 6 * count * narrow;
  const model::Blocks matrix = !trained ? keys_.Of(*candidates, network_)
                               : direct ? embeddings
                                        : Keys(embeddings);
  const at::Tensor which = Indices(positions);
  const at::Tensor queries = forward.head.detach().index_select(0, which);  // [r, P]
  const at::Tensor inputs = direct ? at::mm(queries, network_.key()) : queries;
  at::Tensor by_inputs = at::empty_like(inputs);
  model::Blocks by_matrix;
  for (const at::Tensor& block : matrix) {
    if (trained && !direct) by_matrix.push_back(at::zeros_like(block));
  }
  const std::int64_t chunk = std::max<std::int64_t>(8, kChunkElements / candidates->size());
  for (std::int64_t begin = 0; begin < count; begin += chunk) {
    const std::int64_t size = std::min(chunk, count - begin);
    const auto part =
        positions.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(size));
    std::vector<std::int64_t> goals;
    for (const std::int64_t position : part) {
      const std::int64_t row = forward.rows[static_cast<std::size_t>(position)];
      goals.push_back(data.tensors.goal[static_cast<std::size_t>(row)]);
    }
    at::Tensor logits = data.tensors.similarity[table].index_select(0, Indices(goals));
    const at::Tensor input = inputs.narrow(0, begin, size);
    model::AddProducts(input, matrix, logits);
    const at::Tensor by_logits = LogitGradient(data, forward, part, logits, sums);
    at::Tensor by_input = by_inputs.narrow(0, begin, size);
    model::MultiplyInto(by_logits, matrix, by_input);
    std::int64_t first = 0;
    for (at::Tensor& by_block : by_matrix) {
      by_block.addmm_(by_logits.narrow(1, first, by_block.size(0)).t(), input);
      first += by_block.size(0);
    }
  }
  for (std::size_t i = 0; i < by_matrix.size(); ++i) {
    key_gradient_.addmm_(by_matrix[i].t(), embeddings[i]);
  }
  if (direct) {
    key_gradient_.addmm_(queries.t(), by_inputs);
    by_inputs = at::mm(by_inputs, network_.key().t());
  }
  by_query.index_copy_(0, which, by_inputs);
}

at::Tensor PolicyGradient::CandidateGradient(const UpdateData& data, const Forward& forward,
                                             MinibatchSums& sums) {
  std::vector<std::vector<std::int64_t>> positions(data.batch.tables.size());
  for (std::size_t i = 0; i < forward.rows.size(); ++i) {
    const auto row = static_cast<std::size_t>(forward.rows[i]);
    if (data.advantages.weight[row] == 0) continue;
    positions[static_cast<std::size_t>(data.batch.catalog[row])].push_back(
        static_cast<std::int64_t>(i));
  }
  at::Tensor by_query = at::zeros_like(forward.head);
  for (std::size_t table = 0; table < positions.size(); ++table) {
    if (!positions[table].empty()) {
      AddTable(data, forward, table, positions[table], by_query, sums);
    }
  }
  return by_query;
}

at::Tensor PolicyGradient::ValueGradient(const UpdateData& data, const Forward& forward,
                                         MinibatchSums& sums) const {
  const at::Tensor values = forward.value.detach().contiguous();
  at::Tensor gradient = at::zeros_like(values);
  for (std::size_t i = 0; i < forward.rows.size(); ++i) {
    const auto row = static_cast<std::size_t>(forward.rows[i]);
    const double weight = data.advantages.weight[row];
    if (weight == 0) continue;
    sums.weight() += weight;
    if (data.demonstrated) continue;
    const ValueLoss loss = SquaredValueLoss(values.data_ptr<float>()[i], data.batch.value[row],
                                            data.advantages.target[row], options_.value_clip);
    sums.value_loss() += weight * loss.loss;
    gradient.data_ptr<float>()[i] =
        static_cast<float>(weight * options_.value_coefficient * loss.by_value);
  }
  return gradient;
}

MinibatchSums PolicyGradient::Add(const UpdateData& data, std::span<const std::int64_t> items) {
  MinibatchSums sums;
  if (items.empty()) return sums;
  const Forward forward = Evaluate(data, items);
  at::Tensor by_head;
  at::Tensor by_value;
  {
    const at::NoGradGuard no_grad;
    by_head = spec_.has_candidates() ? CandidateGradient(data, forward, sums)
                                     : DiscreteGradient(data, forward, sums);
    by_value = ValueGradient(data, forward, sums);
  }
  if (data.demonstrated) {
    torch::autograd::backward({forward.head}, {by_head});
  } else {
    torch::autograd::backward({forward.head, forward.value}, {by_head, by_value});
  }
  return sums;
}

}  // namespace shoal::algorithms
