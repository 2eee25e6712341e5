// SPDX-License-Identifier: Apache-2.0
#include "rl/algorithms/split_value_gradient.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <torch/csrc/autograd/autograd.h>

#include <cstddef>

#include "rl/algorithms/autocast.h"
#include "rl/estimators/exploration_family.h"
#include "rl/model/candidate_table.h"
#include "rl/model/torch_device.h"

namespace shoal::algorithms {
namespace {

at::Tensor Of(const at::Tensor& values, const at::Tensor& actions) {
  return values.gather(1, actions.unsqueeze(1)).squeeze(1);
}

double WeightedTotal(const at::Tensor& weight, const at::Tensor& values) {
  return weight.mul(values).sum().item<double>();
}

at::Tensor AllRows(std::int64_t rows, at::Device device) {
  return at::arange(rows, at::TensorOptions(at::kLong).device(device));
}

}  // namespace

SplitValueGradient::SplitValueGradient(const model::PolicySpec& spec,
                                       const model::ParameterLayout& layout, const at::Tensor& flat,
                                       const at::Tensor& gradient, model::Precision precision)
    : spec_(spec),
      network_(spec, layout, flat, gradient),
      device_(flat.device()),
      precision_(precision) {}

model::SplitValues SplitValueGradient::Run(const model::NetworkInputs& inputs) const {
  const Autocast autocast(device_, precision_);
  const at::Tensor features = network_.Features(inputs);
  const model::SplitValues values = network_.Split(features, network_.Torso(features));
  return {.extrinsic = values.extrinsic.to(at::kFloat),
          .intrinsic = values.intrinsic.to(at::kFloat)};
}

std::vector<std::int64_t> SplitValueGradient::PreferredActions(const BatchTensors& tensors,
                                                               std::int64_t rows) const {
  if (rows == 0) return {};
  const at::NoGradGuard no_grad;
  const model::NetworkInputs inputs = tensors.Select(spec_, AllRows(rows, device_));
  at::Tensor mixed = network_.Mixed(Run(inputs), inputs.observation);
  if (tensors.illegal.defined()) mixed = mixed.masked_fill(tensors.illegal, model::kIllegalLogit);
  const at::Tensor preferred = mixed.argmax(1).to(at::kCPU).contiguous();
  const auto* const actions = preferred.const_data_ptr<std::int64_t>();
  return {actions, actions + rows};
}

SplitValuesOfBatch SplitValueGradient::Evaluate(const BatchTensors& tensors,
                                                std::span<const std::int64_t> actions) const {
  if (actions.empty()) return {};
  const at::NoGradGuard no_grad;
  const auto rows = static_cast<std::int64_t>(actions.size());
  const model::SplitValues values = Run(tensors.Select(spec_, AllRows(rows, device_)));
  const at::Tensor of = Indices(actions, device_);
  return {.extrinsic = model::OnHost(Of(values.extrinsic, of)),
          .intrinsic = model::OnHost(Of(values.intrinsic, of))};
}

MinibatchSums SplitValueGradient::Add(const UpdateData& data, std::span<const std::int64_t> items,
                                      std::span<float> absolute_error) {
  MinibatchSums sums;
  if (items.empty()) return sums;
  const at::Tensor rows = Indices(items, device_);
  const at::Tensor actions = Indices(RecordedActions(data.batch, items), device_);
  const model::NetworkInputs inputs = data.tensors.Select(spec_, rows);
  const at::Tensor weight = data.tensors.weight.index_select(0, rows);
  const at::Tensor importance = data.tensors.importance.index_select(0, rows).mul_(weight);
  const model::SplitValues values = Run(inputs);
  const at::Tensor extrinsic = Of(values.extrinsic, actions).to(at::kDouble);
  const at::Tensor intrinsic = Of(values.intrinsic, actions).to(at::kDouble);
  const auto terms_of = [&](const at::Tensor& value, const at::Tensor& target) {
    const at::NoGradGuard no_grad;
    return data.algorithm.action_values()->Loss(
        {.action_value = value.detach(), .target = target.index_select(0, rows)});
  };
  const ActionValueTerms of_task = terms_of(extrinsic, data.targets.value);
  const ActionValueTerms of_novelty = terms_of(intrinsic, data.targets.intrinsic);
  torch::autograd::backward({extrinsic, intrinsic}, {of_task.by_action_value.mul(importance),
                                                     of_novelty.by_action_value.mul(importance)});

  const std::vector<float> errors = model::OnHost(of_task.error.abs().add(of_novelty.error.abs()));
  for (std::size_t i = 0; i < errors.size(); ++i) {
    absolute_error[static_cast<std::size_t>(items[i])] = errors[i];
  }
  sums.weight() = weight.sum().item<double>();
  sums.policy_loss() = WeightedTotal(importance, of_task.loss);
  sums.value_loss() = WeightedTotal(importance, of_novelty.loss);
  sums.importance() = importance.sum().item<double>();
  sums.importance_squares() = importance.square().sum().item<double>();
  for (std::size_t i = 0; i < of_task.metrics.size(); ++i) {
    sums.metric(i) = WeightedTotal(weight, of_task.metrics[i]);
  }
  return sums;
}

std::vector<float> IntrinsicRewards(const UnrollBatch& batch) {
  const auto columns = static_cast<std::size_t>(batch.columns);
  const auto steps = static_cast<std::size_t>(batch.length) * columns;
  std::vector<float> rewards(steps);
  if (steps == 0) return rewards;
  const std::size_t size = batch.observation.size() / (steps + columns);
  for (std::size_t row = 0; row < steps; ++row) {
    if ((batch.flags[row] & kTerminated) != 0) continue;
    rewards[row] = batch.observation[(row + columns) * size + estimators::kIntrinsicRewardPlace];
  }
  return rewards;
}

}  // namespace shoal::algorithms
