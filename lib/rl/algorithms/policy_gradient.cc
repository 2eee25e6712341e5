// SPDX-License-Identifier: Apache-2.0
#include "rl/algorithms/policy_gradient.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "rl/algorithms/autocast.h"
#include "rl/algorithms/gaussian_head.h"
#include "rl/algorithms/head_rows.h"
#include "rl/algorithms/policy_loss.h"
#include "rl/model/candidate_table.h"
#include "rl/model/torch_device.h"

namespace shoal::algorithms {
namespace {

at::Tensor KeyGradient(const model::ParameterLayout& layout, const at::Tensor& gradient) {
  if (!gradient.defined()) return {};
  const model::ParameterInfo* const key = layout.Find("key");
  if (key == nullptr || key->offset >= layout.trainable) return {};
  return gradient.narrow(0, key->offset, key->size).view(key->shape);
}

at::Tensor Sum(const at::Tensor& weight, const at::Tensor& values) {
  return weight.mul(values).sum();
}

// Adds what WeightedLoss has summed.
void AddPolicyTotals(const UpdateData& data, const at::Tensor& totals, MinibatchSums& sums) {
  const double* const total = totals.const_data_ptr<double>();
  auto end = static_cast<std::size_t>(totals.numel());
  sums.policy_loss() += total[0];
  sums.entropy() += total[1];
  sums.kl() += total[2];
  sums.importance() += total[3];
  sums.importance_squares() += total[4];
  if (data.tensors.current_weight.defined()) {
    sums.drift() += total[--end];
    sums.current_weight() += total[--end];
  }
  for (std::size_t i = 5; i < end; ++i) sums.metric(i - 5) += total[i];
}

// Adds what WeightedActionValueLoss has summed.
void AddActionValueTotals(const at::Tensor& totals, MinibatchSums& sums) {
  const double* const total = totals.const_data_ptr<double>();
  sums.weight() += total[0];
  sums.policy_loss() += total[1];
  sums.importance() += total[2];
  sums.importance_squares() += total[3];
  for (std::size_t i = 4; i < static_cast<std::size_t>(totals.numel()); ++i) {
    sums.metric(i - 4) += total[i];
  }
}

}  // namespace

PolicyGradient::PolicyGradient(const model::PolicySpec& spec, const model::ParameterLayout& layout,
                               const at::Tensor& flat, const at::Tensor& gradient,
                               HeadArithmetic arithmetic, model::Precision precision)
    : spec_(spec),
      device_(flat.device()),
      arithmetic_(arithmetic),
      precision_(precision),
      network_(spec, layout, flat, gradient),
      candidates_(network_, KeyGradient(layout, gradient)),
      batched_(network_, KeyGradient(layout, gradient).defined()),
      chosen_(network_) {}

at::Tensor PolicyGradient::PositionsOf(const HeadRows& head) const {
  return head.where.defined() ? head.where : model::CopyUp(head.positions, device_);
}

at::Tensor PolicyGradient::Unroll(const BatchTensors& tensors, const at::Tensor& columns,
                                  std::int64_t steps, const at::Tensor& torso) const {
  const at::Tensor inputs = torso.view({steps, columns.size(0), torso.size(1)});
  const at::Tensor alive = tensors.alive.index_select(1, columns);
  at::Tensor state = tensors.core_state.index_select(0, columns);
  std::vector<at::Tensor> outputs;
  for (std::int64_t t = 0; t < steps; ++t) {
    state = network_.Core(inputs[t], state.mul(alive[t]));
    outputs.push_back(network_.CoreOutput(state));
  }
  return at::stack(outputs).view({steps * columns.size(0), spec_.core_size});
}

PolicyGradient::Forward PolicyGradient::Run(const UnrollBatch& batch, const BatchTensors& tensors,
                                            const IndexList& items, std::int64_t steps,
                                            const at::Tensor& fraction) const {
  Forward forward;
  if (spec_.has_core()) {
    for (std::int64_t t = 0; t < steps; ++t) {
      for (const std::int64_t column : items.host) {
        forward.rows.push_back(t * batch.columns + column);
      }
    }
    forward.index = at::arange(steps, items.device.options())
                        .mul_(batch.columns)
                        .unsqueeze(1)
                        .add(items.device)
                        .flatten();
  } else {
    forward.rows.assign(items.host.begin(), items.host.end());
    forward.index = items.device;
  }
  const at::Tensor rows = forward.index;
  std::optional<Autocast> layers(std::in_place, device_, precision_);
  const at::Tensor features = network_.Features(tensors.Select(spec_, rows));
  at::Tensor hidden = network_.Torso(features);
  at::Tensor core;
  if (spec_.has_core()) {
    // A rounded state would add up its errors from step to step.
    layers.reset();
    core = Unroll(tensors, items.device, steps, hidden.to(at::kFloat));
    hidden = core;
    layers.emplace(device_, precision_);
  }
  if (fraction.defined()) {
    const std::int64_t heads = fraction.size(1);
    std::vector<std::int64_t> repeated;
    for (const std::int64_t row : forward.rows) {
      repeated.insert(repeated.end(), static_cast<std::size_t>(heads), row);
    }
    forward.rows = std::move(repeated);
    forward.index = rows.repeat_interleave(heads, 0);
    forward.heads_per_row = heads;
    forward.fraction = fraction.index_select(0, rows).flatten();
    hidden = network_.AtFractions(hidden.repeat_interleave(heads, 0), forward.fraction);
  } else {
    hidden = network_.AtMean(hidden);
  }
  forward.head = network_.Head(hidden).to(at::kFloat);
  if (spec_.candidate_marks > 0) {
    forward.mark_weights = network_.MarkWeights(hidden).to(at::kFloat);
  }
  forward.value = network_.Value(features, core).to(at::kFloat);
  return forward;
}

HeadDerivatives PolicyGradient::WeightedLoss(const UpdateData& data, const Forward& forward,
                                             const HeadRows& head, Totals& totals) const {
  const at::Tensor rows = forward.index.index_select(0, PositionsOf(head));
  const at::Tensor weight = data.tensors.weight.index_select(0, rows);
  const PolicyRows policy{
      .log_probability = head.log_probability,
      .entropy = head.entropy,
      .behaviour_log_probability = data.tensors.behaviour_log_probability.index_select(0, rows),
      .advantage = data.targets.advantage.index_select(0, rows),
      .greedy = head.greedy,
      .weights = data.weights};
  const PolicyTerms terms = data.algorithm.policy()->PolicyLoss(policy);
  const at::Tensor ratio = ImportanceWeights(policy);
  std::vector<at::Tensor> of_rows = {Sum(weight, terms.loss), Sum(weight, head.entropy),
                                     Sum(weight, ratio.sub(1).sub_(ratio.log())),
                                     Sum(weight, ratio), Sum(weight, ratio.square())};
  for (const at::Tensor& metric : terms.metrics) of_rows.push_back(Sum(weight, metric));
  if (data.tensors.current_weight.defined()) {
    const at::Tensor current = data.tensors.current_weight.index_select(0, rows);
    of_rows.push_back(current.sum());
    of_rows.push_back(
        Sum(current, policy.log_probability.sub(policy.behaviour_log_probability).abs_()));
  }
  totals.push_back(at::stack(of_rows));
  return {.by_log_probability = terms.by_log_probability.mul(weight),
          .by_entropy = terms.by_entropy.mul(weight)};
}

HeadDerivatives PolicyGradient::WeightedActionValueLoss(const UpdateData& data,
                                                        const Forward& forward,
                                                        const HeadRows& head, at::Tensor& by_value,
                                                        at::Tensor& error, Totals& totals) const {
  const at::Tensor positions = PositionsOf(head);
  const at::Tensor rows = forward.index.index_select(0, positions);
  // The losses of a row's quantiles are added up, everything else is averaged over them.
  const auto heads = static_cast<double>(forward.heads_per_row);
  const at::Tensor weight = data.tensors.weight.index_select(0, rows).div_(heads);
  const at::Tensor importance = data.tensors.importance.index_select(0, rows).mul_(weight);
  at::Tensor value = head.chosen;
  if (spec_.dueling) {
    value = value.sub(head.mean).add_(forward.value.detach().index_select(0, positions));
  }
  ActionValueRows loss_rows{.action_value = value, .target = {}};
  if (forward.fraction.defined()) {
    loss_rows.target = data.targets.quantile.index_select(0, rows);
    loss_rows.fraction = forward.fraction.index_select(0, positions).to(at::kDouble);
  } else {
    loss_rows.target = data.targets.value.index_select(0, rows);
  }
  const ActionValueTerms terms = data.algorithm.action_values()->Loss(loss_rows);
  std::vector<at::Tensor> of_rows = {weight.sum(), Sum(importance, terms.loss).mul_(heads),
                                     importance.sum(), importance.square().sum().mul_(heads)};
  for (const at::Tensor& metric : terms.metrics) of_rows.push_back(Sum(weight, metric));
  totals.push_back(at::stack(of_rows));
  error.index_copy_(0, positions, terms.error);
  const at::Tensor by = terms.by_action_value.mul(importance).mul_(heads);
  if (!spec_.dueling) return {.by_chosen = by};
  by_value.index_copy_(0, positions, by);
  return {.by_chosen = by, .by_mean = by.neg()};
}

at::Tensor PolicyGradient::DiscreteGradient(const BatchTensors& tensors, const Forward& forward,
                                            std::span<const std::int64_t> actions,
                                            HeadOutput output, const HeadLoss& loss) const {
  at::Tensor logits = forward.head.detach().clone();
  TORCH_CHECK(logits.is_cpu(), "the discrete head computes on the CPU");
  if (tensors.illegal.defined()) {
    const at::Tensor illegal = tensors.illegal.index_select(0, forward.index);
    logits.masked_fill_(illegal, model::kIllegalLogit);
  }
  const auto width = static_cast<std::size_t>(logits.size(1));
  std::vector<HeadRow> rows;
  std::vector<std::int64_t> positions(forward.rows.size());
  std::iota(positions.begin(), positions.end(), 0);
  for (std::size_t i = 0; i < forward.rows.size(); ++i) {
    rows.emplace_back(std::span(logits.data_ptr<float>() + i * width, width), actions[i], output);
  }
  HeadBackward(rows, positions, output, loss);
  return logits;
}

CandidateHead::Rows PolicyGradient::HeadGradient(const UnrollBatch& batch,
                                                 const BatchTensors& tensors,
                                                 const Forward& forward,
                                                 std::span<const std::int64_t> actions,
                                                 HeadOutput output, const HeadLoss& loss) {
  if (!spec_.has_candidates()) {
    return {.queries = DiscreteGradient(tensors, forward, actions, output, loss),
            .mark_weights = {}};
  }
  CandidateHead::Rows inputs = {.queries = forward.head.detach().contiguous(), .mark_weights = {}};
  if (forward.mark_weights.defined()) {
    inputs.mark_weights = forward.mark_weights.detach().contiguous();
  }
  return candidates_.Backward(batch, tensors, forward.rows, actions, inputs, output, loss);
}

BatchedHead::Derivatives PolicyGradient::HeadDerivativesOf(
    const UnrollBatch& batch, const BatchTensors& tensors, const Forward& forward,
    const IndexList& actions, HeadOutput output, const HeadLoss& loss) {
  if (spec_.has_box()) {
    const at::Tensor action = tensors.box_action.index_select(0, forward.index);
    return RunGaussianHead(forward.head, action, loss);
  }
  if (output == HeadOutput::kChosenValues) {
    return chosen_.Run(batch, tensors, forward.rows, actions,
                       {.head = forward.head, .mark_weights = forward.mark_weights}, loss);
  }
  if (arithmetic_ == HeadArithmetic::kBatches) {
    return batched_.Run(batch, tensors, {.host = forward.rows, .device = forward.index}, actions,
                        {.head = forward.head, .mark_weights = forward.mark_weights}, output, loss);
  }
  const at::NoGradGuard no_grad;
  const CandidateHead::Rows by_head =
      HeadGradient(batch, tensors, forward, actions.host, output, loss);
  BatchedHead::Derivatives derivatives{.of = {forward.head}, .by = {by_head.queries}};
  if (by_head.mark_weights.defined()) {
    derivatives.of.push_back(forward.mark_weights);
    derivatives.by.push_back(by_head.mark_weights);
  }
  return derivatives;
}

at::Tensor PolicyGradient::ValueGradient(const UpdateData& data, const Forward& forward,
                                         Totals& totals) const {
  const at::Tensor& rows = forward.index;
  const at::Tensor weight = data.tensors.weight.index_select(0, rows);
  const ValueTerms terms = data.algorithm.policy()->ValueLoss(
      {.value = forward.value.detach().to(at::kDouble),
       .behaviour_value = data.tensors.value.index_select(0, rows),
       .target = data.targets.value.index_select(0, rows)});
  totals.push_back(at::stack({weight.sum(), Sum(weight, terms.loss)}));
  return terms.by_value.mul(weight).to(at::kFloat);
}

PolicyGradient::Forward PolicyGradient::RunAll(const UnrollBatch& batch,
                                               const BatchTensors& tensors,
                                               const at::Tensor& fraction) const {
  const std::int64_t steps = batch.length + 1;
  const std::int64_t count = spec_.has_core() ? batch.columns : steps * batch.columns;
  const std::vector<std::int64_t> items = AllRows(count);
  return Run(batch, tensors, {.host = items, .device = AllRows(count, device_)}, steps, fraction);
}

MinibatchSums PolicyGradient::Add(const UpdateData& data, const IndexList& items,
                                  std::span<float> absolute_error) {
  MinibatchSums sums;
  if (items.host.empty()) return sums;
  const bool on_policy = data.algorithm.policy() != nullptr;
  const Forward forward = Run(data.batch, data.tensors, items, data.batch.length,
                              on_policy ? at::Tensor() : data.targets.fraction);
  const std::vector<std::int64_t> recorded = RecordedActions(data.batch, forward.rows);
  const IndexList actions{.host = recorded,
                          .device = data.tensors.action.index_select(0, forward.index)};
  BatchedHead::Derivatives derivatives;
  at::Tensor by_value;
  Totals totals;
  if (on_policy) {
    const auto loss = [&](const HeadRows& head) {
      return WeightedLoss(data, forward, head, totals);
    };
    derivatives =
        HeadDerivativesOf(data.batch, data.tensors, forward, actions, HeadOutput::kLogits, loss);
    const at::NoGradGuard no_grad;
    by_value = ValueGradient(data, forward, totals);
  } else {
    const auto doubles = at::TensorOptions(at::kDouble).device(device_);
    at::Tensor by_critic = at::zeros({forward.value.size(0)}, doubles);
    at::Tensor error = at::zeros({static_cast<std::int64_t>(forward.rows.size())}, doubles);
    const auto loss = [&](const HeadRows& head) {
      return WeightedActionValueLoss(data, forward, head, by_critic, error, totals);
    };
    derivatives =
        HeadDerivativesOf(data.batch, data.tensors, forward, actions, ValuesNeeded(), loss);
    by_value = by_critic.to(at::kFloat);
    totals.push_back(error.view({-1, forward.heads_per_row}).mean(1).abs().to(at::kFloat));
  }
  derivatives.of.push_back(forward.value);
  derivatives.by.push_back(by_value);
  torch::autograd::backward(derivatives.of, derivatives.by);

  // The one copy that waits for the device.
  const Totals host = model::ToHost(totals);
  const at::Tensor& last = host.back();
  const std::span<const at::Tensor> of_head(host.data(), host.size() - 1);
  if (on_policy) {
    for (const at::Tensor& total : of_head) AddPolicyTotals(data, total, sums);
    sums.weight() += last.const_data_ptr<double>()[0];
    sums.value_loss() += last.const_data_ptr<double>()[1];
    return sums;
  }
  for (const at::Tensor& total : of_head) AddActionValueTotals(total, sums);
  const auto heads = static_cast<std::size_t>(forward.heads_per_row);
  for (std::int64_t i = 0; i < last.numel(); ++i) {
    absolute_error[static_cast<std::size_t>(forward.rows[static_cast<std::size_t>(i) * heads])] =
        last.const_data_ptr<float>()[i];
  }
  return sums;
}

CurrentPolicy PolicyGradient::Evaluate(const UnrollBatch& batch, const BatchTensors& tensors) {
  const at::NoGradGuard no_grad;
  CurrentPolicy current;
  const auto actions = static_cast<std::size_t>(batch.length * batch.columns);
  current.log_probability.resize(actions);
  if (batch.columns == 0) return current;
  Forward forward = RunAll(batch, tensors, /*fraction=*/{});
  current.value = model::OnHost(forward.value);
  // Rows are in ascending order. The bootstrap rows, which come last, have no action.
  forward.rows.resize(actions);
  forward.index = forward.index.narrow(0, 0, static_cast<std::int64_t>(actions));
  forward.head = forward.head.narrow(0, 0, static_cast<std::int64_t>(actions));
  if (forward.mark_weights.defined()) {
    forward.mark_weights = forward.mark_weights.narrow(0, 0, static_cast<std::int64_t>(actions));
  }
  const auto keep = [&](const HeadRows& head) {
    const std::vector<float> logs = model::OnHost(head.log_probability);
    for (std::size_t i = 0; i < logs.size(); ++i) {
      current.log_probability[static_cast<std::size_t>(head.positions[i])] = logs[i];
    }
    return HeadDerivatives{};
  };
  const std::vector<std::int64_t> recorded = RecordedActions(batch, forward.rows);
  HeadDerivativesOf(batch, tensors, forward,
                    {.host = recorded, .device = tensors.action.index_select(0, forward.index)},
                    HeadOutput::kLogits, keep);
  return current;
}

ActionValueRowsOfBatch PolicyGradient::EvaluateActionValues(const UnrollBatch& batch,
                                                            const BatchTensors& tensors,
                                                            std::span<const std::int64_t> actions) {
  const at::NoGradGuard no_grad;
  const auto rows = static_cast<std::size_t>((batch.length + 1) * batch.columns);
  const bool greedy = actions.empty();
  ActionValueRowsOfBatch values{.greedy_action = std::vector<std::int64_t>(greedy ? rows : 0),
                                .value = std::vector<float>(rows)};
  if (rows == 0) return values;
  const Forward forward = RunAll(batch, tensors, /*fraction=*/{});
  const std::vector<float> critic = model::OnHost(forward.value);
  const std::vector<std::int64_t> recorded = RecordedActions(batch, forward.rows);
  const IndexList wanted = greedy ? IndexList{.host = recorded, .device = tensors.action}
                                  : IndexList::Of(actions, device_);
  const auto keep = [&](const HeadRows& head) {
    const std::vector<float> chosen = model::OnHost(greedy ? head.maximum : head.chosen);
    const std::vector<float> mean = spec_.dueling ? model::OnHost(head.mean) : std::vector<float>();
    const at::Tensor best = greedy ? head.greedy_action.to(at::kCPU) : at::Tensor();
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      const auto row = static_cast<std::size_t>(head.positions[i]);
      values.value[row] = spec_.dueling ? critic[row] + chosen[i] - mean[i] : chosen[i];
      if (greedy) values.greedy_action[row] = best.const_data_ptr<std::int64_t>()[i];
    }
    return HeadDerivatives{};
  };
  HeadDerivativesOf(batch, tensors, forward, wanted,
                    greedy ? HeadOutput::kActionValues : ValuesNeeded(), keep);
  return values;
}

std::vector<float> PolicyGradient::EvaluateQuantiles(const UnrollBatch& batch,
                                                     const BatchTensors& tensors,
                                                     std::span<const std::int64_t> actions,
                                                     std::span<const float> fractions) {
  const at::NoGradGuard no_grad;
  std::vector<float> values(fractions.size());
  if (actions.empty()) return values;
  const at::Tensor fraction =
      model::CopyUp(fractions, device_).view({static_cast<std::int64_t>(actions.size()), -1});
  const Forward forward = RunAll(batch, tensors, fraction);
  std::vector<std::int64_t> repeated;
  for (const std::int64_t row : forward.rows) {
    repeated.push_back(actions[static_cast<std::size_t>(row)]);
  }
  const auto keep = [&](const HeadRows& head) {
    const std::vector<float> chosen = model::OnHost(head.chosen);
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      values[static_cast<std::size_t>(head.positions[i])] = chosen[i];
    }
    return HeadDerivatives{};
  };
  HeadDerivativesOf(batch, tensors, forward, IndexList::Of(repeated, device_),
                    HeadOutput::kChosenValues, keep);
  return values;
}

}  // namespace shoal::algorithms
