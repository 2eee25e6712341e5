// SPDX-License-Identifier: Apache-2.0
#include "rl/algorithms/policy_gradient.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "rl/algorithms/policy_loss.h"
#include "rl/algorithms/softmax_rows.h"
#include "rl/model/candidate_table.h"

namespace shoal::algorithms {
namespace {

at::Tensor Indices(std::span<const std::int64_t> values) {
  auto* const data = const_cast<std::int64_t*>(values.data());
  return at::from_blob(data, {static_cast<std::int64_t>(values.size())}, at::kLong).clone();
}

at::Tensor KeyGradient(const model::ParameterLayout& layout, const at::Tensor& gradient) {
  const model::ParameterInfo* const key = layout.Find("key");
  if (key == nullptr || key->offset >= layout.trainable) return {};
  return gradient.narrow(0, key->offset, key->size).view(key->shape);
}

at::Tensor Sum(const at::Tensor& weight, const at::Tensor& values) {
  return weight.mul(values).sum();
}

std::vector<float> HostCopy(const at::Tensor& values) {
  const at::Tensor host = values.to(at::kCPU, at::kFloat).contiguous();
  const float* const data = host.const_data_ptr<float>();
  return {data, data + host.numel()};
}

}  // namespace

PolicyGradient::PolicyGradient(const model::PolicySpec& spec, const model::ParameterLayout& layout,
                               const at::Tensor& flat, const at::Tensor& gradient)
    : spec_(spec),
      network_(spec, layout, flat, gradient),
      candidates_(network_, KeyGradient(layout, gradient)) {}

at::Tensor PolicyGradient::Unroll(const BatchTensors& tensors,
                                  std::span<const std::int64_t> columns, std::int64_t steps,
                                  const at::Tensor& torso) const {
  const at::Tensor which = Indices(columns);
  const at::Tensor inputs = torso.view({steps, which.size(0), torso.size(1)});
  const at::Tensor alive = tensors.alive.index_select(1, which);
  at::Tensor state = tensors.core_state.index_select(0, which);
  std::vector<at::Tensor> states;
  for (std::int64_t t = 0; t < steps; ++t) {
    state = network_.Core(inputs[t], state.mul(alive[t]));
    states.push_back(state);
  }
  return at::stack(states).view({steps * which.size(0), spec_.core_size});
}

PolicyGradient::Forward PolicyGradient::Run(const UnrollBatch& batch, const BatchTensors& tensors,
                                            std::span<const std::int64_t> items,
                                            std::int64_t steps) const {
  Forward forward;
  if (spec_.has_core()) {
    for (std::int64_t t = 0; t < steps; ++t) {
      for (const std::int64_t column : items) forward.rows.push_back(t * batch.columns + column);
    }
  } else {
    forward.rows.assign(items.begin(), items.end());
  }
  const at::Tensor features = network_.Features(tensors.Select(spec_, Indices(forward.rows)));
  at::Tensor hidden = network_.Torso(features);
  at::Tensor core;
  if (spec_.has_core()) {
    core = Unroll(tensors, items, steps, hidden);
    hidden = core;
  }
  forward.head = network_.Head(hidden);
  if (spec_.candidate_marks > 0) forward.mark_weights = network_.MarkWeights(hidden);
  forward.value = network_.Value(features, core);
  return forward;
}

HeadDerivatives PolicyGradient::WeightedLoss(const UpdateData& data, const Forward& forward,
                                             const HeadRows& head, MinibatchSums& sums) const {
  std::vector<std::int64_t> numbers;
  for (const std::int64_t position : head.positions) {
    numbers.push_back(forward.rows[static_cast<std::size_t>(position)]);
  }
  const at::Tensor rows = Indices(numbers);
  const at::Tensor weight = data.tensors.weight.index_select(0, rows);
  const PolicyRows policy{
      .log_probability = head.log_probability,
      .entropy = head.entropy,
      .behaviour_log_probability = data.tensors.behaviour_log_probability.index_select(0, rows),
      .advantage = data.targets.advantage.index_select(0, rows),
      .greedy = head.greedy};
  const PolicyTerms terms = data.algorithm.PolicyLoss(policy);
  const at::Tensor ratio = ImportanceWeights(policy);
  std::vector<at::Tensor> totals = {Sum(weight, terms.loss), Sum(weight, head.entropy),
                                    Sum(weight, ratio.sub(1).sub_(ratio.log()))};
  for (const at::Tensor& metric : terms.metrics) totals.push_back(Sum(weight, metric));
  const at::Tensor host = at::stack(totals).to(at::kCPU);
  const double* const total = host.const_data_ptr<double>();
  sums.policy_loss() += total[0];
  sums.entropy() += total[1];
  sums.kl() += total[2];
  for (std::size_t i = 0; i < terms.metrics.size(); ++i) sums.metric(i) += total[3 + i];
  return {.by_log_probability = terms.by_log_probability.mul(weight),
          .by_entropy = terms.by_entropy.mul(weight)};
}

at::Tensor PolicyGradient::DiscreteGradient(const UnrollBatch& batch, const BatchTensors& tensors,
                                            const Forward& forward, const HeadLoss& loss) const {
  at::Tensor logits = forward.head.detach().clone();
  TORCH_CHECK(logits.is_cpu(), "the discrete head computes on the CPU");
  if (tensors.illegal.defined()) {
    const at::Tensor illegal = tensors.illegal.index_select(0, Indices(forward.rows));
    logits.masked_fill_(illegal, model::kIllegalLogit);
  }
  const auto width = static_cast<std::size_t>(logits.size(1));
  std::vector<LogitRow> rows;
  std::vector<std::int64_t> positions(forward.rows.size());
  std::iota(positions.begin(), positions.end(), 0);
  for (std::size_t i = 0; i < forward.rows.size(); ++i) {
    const auto row = static_cast<std::size_t>(forward.rows[i]);
    // A bootstrap row and a row of weight 0 may have no action.
    const std::int64_t action =
        row < batch.action.size() ? std::max<std::int64_t>(batch.action[row], 0) : 0;
    rows.emplace_back(std::span(logits.data_ptr<float>() + i * width, width), action);
  }
  SoftmaxBackward(rows, positions, loss);
  return logits;
}

CandidateHead::Rows PolicyGradient::HeadGradient(const UnrollBatch& batch,
                                                 const BatchTensors& tensors,
                                                 const Forward& forward, const HeadLoss& loss) {
  if (!spec_.has_candidates()) {
    return {.queries = DiscreteGradient(batch, tensors, forward, loss), .mark_weights = {}};
  }
  CandidateHead::Rows inputs = {.queries = forward.head.detach().contiguous(), .mark_weights = {}};
  if (forward.mark_weights.defined()) {
    inputs.mark_weights = forward.mark_weights.detach().contiguous();
  }
  return candidates_.Backward(batch, tensors, forward.rows, inputs, loss);
}

at::Tensor PolicyGradient::ValueGradient(const UpdateData& data, const Forward& forward,
                                         MinibatchSums& sums) const {
  const at::Tensor rows = Indices(forward.rows);
  const at::Tensor weight = data.tensors.weight.index_select(0, rows);
  const ValueTerms terms =
      data.algorithm.ValueLoss({.value = forward.value.detach().to(at::kDouble),
                                .behaviour_value = data.tensors.value.index_select(0, rows),
                                .target = data.targets.value.index_select(0, rows)});
  sums.weight() += weight.sum().item<double>();
  sums.value_loss() += Sum(weight, terms.loss).item<double>();
  return terms.by_value.mul(weight).to(at::kFloat);
}

MinibatchSums PolicyGradient::Add(const UpdateData& data, std::span<const std::int64_t> items) {
  MinibatchSums sums;
  if (items.empty()) return sums;
  const Forward forward = Run(data.batch, data.tensors, items, data.batch.length);
  CandidateHead::Rows by_head;
  at::Tensor by_value;
  {
    const at::NoGradGuard no_grad;
    const auto loss = [&](const HeadRows& head) { return WeightedLoss(data, forward, head, sums); };
    by_head = HeadGradient(data.batch, data.tensors, forward, loss);
    by_value = ValueGradient(data, forward, sums);
  }
  std::vector<at::Tensor> outputs = {forward.head, forward.value};
  std::vector<at::Tensor> by_outputs = {by_head.queries, by_value};
  if (by_head.mark_weights.defined()) {
    outputs.push_back(forward.mark_weights);
    by_outputs.push_back(by_head.mark_weights);
  }
  torch::autograd::backward(outputs, by_outputs);
  return sums;
}

CurrentPolicy PolicyGradient::Evaluate(const UnrollBatch& batch, const BatchTensors& tensors) {
  const at::NoGradGuard no_grad;
  CurrentPolicy current;
  const auto actions = static_cast<std::size_t>(batch.length * batch.columns);
  current.log_probability.resize(actions);
  if (batch.columns == 0) return current;
  const std::int64_t steps = batch.length + 1;
  std::vector<std::int64_t> items(
      static_cast<std::size_t>(spec_.has_core() ? batch.columns : steps * batch.columns));
  std::iota(items.begin(), items.end(), 0);
  Forward forward = Run(batch, tensors, items, steps);
  current.value = HostCopy(forward.value);
  // Rows are in ascending order. The bootstrap rows, which come last, have no action.
  forward.rows.resize(actions);
  forward.head = forward.head.narrow(0, 0, static_cast<std::int64_t>(actions));
  if (forward.mark_weights.defined()) {
    forward.mark_weights = forward.mark_weights.narrow(0, 0, static_cast<std::int64_t>(actions));
  }
  const auto keep = [&](const HeadRows& head) {
    const std::vector<float> logs = HostCopy(head.log_probability);
    for (std::size_t i = 0; i < logs.size(); ++i) {
      current.log_probability[static_cast<std::size_t>(head.positions[i])] = logs[i];
    }
    return HeadDerivatives{};
  };
  HeadGradient(batch, tensors, forward, keep);
  return current;
}

}  // namespace shoal::algorithms
