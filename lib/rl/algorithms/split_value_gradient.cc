// SPDX-License-Identifier: Apache-2.0
#include "rl/algorithms/split_value_gradient.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/stack.h>
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

at::Tensor WeightedTotal(const at::Tensor& weight, const at::Tensor& values) {
  return weight.mul(values).sum();
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
  const at::Tensor of = model::CopyUp(actions, device_);
  return {.extrinsic = model::OnHost(Of(values.extrinsic, of)),
          .intrinsic = model::OnHost(Of(values.intrinsic, of))};
}

MinibatchSums SplitValueGradient::Add(const UpdateData& data, const IndexList& items,
                                      std::span<float> absolute_error) {
  MinibatchSums sums;
  if (items.host.empty()) return sums;
  const at::Tensor& rows = items.device;
  const at::Tensor actions = data.tensors.action.index_select(0, rows);
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

  std::vector<at::Tensor> totals = {weight.sum(), WeightedTotal(importance, of_task.loss),
                                    WeightedTotal(importance, of_novelty.loss), importance.sum(),
                                    importance.square().sum()};
  for (const at::Tensor& metric : of_task.metrics) totals.push_back(WeightedTotal(weight, metric));
  // The one copy that waits for the device.
  const std::vector<at::Tensor> host = model::ToHost(
      {of_task.error.abs().add(of_novelty.error.abs()).to(at::kFloat), at::stack(totals)});
  for (std::size_t i = 0; i < items.host.size(); ++i) {
    absolute_error[static_cast<std::size_t>(items.host[i])] = host[0].const_data_ptr<float>()[i];
  }
  const double* const total = host[1].const_data_ptr<double>();
  sums.weight() = total[0];
  sums.policy_loss() = total[1];
  sums.value_loss() = total[2];
  sums.importance() = total[3];
  sums.importance_squares() = total[4];
  for (std::size_t i = 0; i < of_task.metrics.size(); ++i) sums.metric(i) = total[5 + i];
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
