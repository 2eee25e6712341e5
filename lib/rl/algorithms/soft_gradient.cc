// SPDX-License-Identifier: Apache-2.0
#include "rl/algorithms/soft_gradient.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/minimum.h>
#include <ATen/ops/softplus.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tanh.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>
#include <numbers>

#include "rl/algorithms/autocast.h"
#include "rl/model/candidate_table.h"
#include "rl/model/squashed_gaussian.h"
#include "rl/model/torch_device.h"

namespace shoal::algorithms {
namespace {

at::Tensor WeightedSum(const at::Tensor& weight, const at::Tensor& values) {
  return weight.mul(values.detach().to(at::kDouble)).sum();
}

}  // namespace

SoftGradient::SoftGradient(const model::PolicySpec& spec, const model::ParameterLayout& layout,
                           const SoftParameters& parameters, double target_entropy,
                           model::Precision precision)
    : spec_(spec),
      network_(spec, layout, parameters.trained, parameters.gradient),
      constant_(spec, layout, parameters.trained, /*gradient=*/at::Tensor()),
      target_(spec, layout, parameters.target, /*gradient=*/at::Tensor()),
      target_entropy_(target_entropy),
      device_(parameters.trained.device()),
      precision_(precision) {}

template <typename Layers>
at::Tensor SoftGradient::Computed(const Layers& layers) const {
  const Autocast autocast(device_, precision_);
  return layers().to(at::kFloat);
}

SoftGradient::Distribution SoftGradient::Act(const at::Tensor& features, const at::Tensor& illegal,
                                             const at::Tensor& noise) const {
  const at::Tensor head = Computed([&] { return network_.Head(network_.Torso(features)); });
  if (!spec_.has_box()) {
    const at::Tensor logits =
        illegal.defined() ? head.masked_fill(illegal, model::kIllegalLogit) : head;
    const at::Tensor log_probability = at::log_softmax(logits, 1);
    const at::Tensor probability = log_probability.exp();
    return {.action = {},
            .probability = probability,
            .entropy = probability.mul(log_probability).sum(1).neg()};
  }
  const std::int64_t n = spec_.action_count;
  const at::Tensor log_deviation =
      head.narrow(1, n, n).clamp(model::kLeastLogDeviation, model::kGreatestLogDeviation);
  const at::Tensor u = head.narrow(1, 0, n).add(log_deviation.exp().mul(noise));
  // As in squashed_gaussian.h.
  const at::Tensor squash = u.neg().sub(at::softplus(u.mul(-2))).add(std::numbers::ln2).mul(2);
  const at::Tensor log_density = noise.square()
                                     .mul(-0.5)
                                     .sub(log_deviation)
                                     .sub(0.5 * std::log(2 * std::numbers::pi))
                                     .sub(squash);
  return {.action = at::tanh(u), .probability = {}, .entropy = log_density.sum(1).neg()};
}

at::Tensor SoftGradient::ExpectedValue(const model::Network& network, const at::Tensor& features,
                                       const Distribution& distribution) const {
  const auto of_critic = [&](int critic) {
    return Computed([&] { return network.Critic(critic, features, distribution.action); });
  };
  const at::Tensor lesser = at::minimum(of_critic(0), of_critic(1));
  if (spec_.has_box()) return lesser.squeeze(1);
  return distribution.probability.mul(lesser).sum(1);
}

at::Tensor SoftGradient::TargetEntropy(const at::Tensor& illegal, const at::Tensor& like) const {
  const at::Tensor target = at::full_like(like.detach(), target_entropy_);
  if (!illegal.defined() || spec_.action_count < 2) return target;
  const at::Tensor legal = illegal.logical_not().sum(1).clamp_min(1).to(at::kFloat);
  return target.mul(legal.log().div(std::log(static_cast<double>(spec_.action_count))));
}

SoftRowsOfBatch SoftGradient::Evaluate(const BatchTensors& tensors, std::int64_t rows,
                                       const at::Tensor& noise) {
  if (rows == 0) return {};
  const at::NoGradGuard no_grad;
  const model::NetworkInputs inputs = tensors.Select(spec_, AllRows(rows, tensors.weight.device()));
  const at::Tensor features = Computed([&] { return network_.Features(inputs); });
  const at::Tensor target_features = Computed([&] { return target_.Features(inputs); });
  const Distribution distribution = Act(features, tensors.illegal, noise);
  const double temperature = std::exp(network_.log_temperature().item<double>());
  return {.value = model::OnHost(ExpectedValue(target_, target_features, distribution)),
          .entropy_bonus = model::OnHost(distribution.entropy.mul(temperature))};
}

MinibatchSums SoftGradient::Add(const UpdateData& data, const IndexList& items,
                                const at::Tensor& noise, std::span<float> absolute_error) {
  MinibatchSums sums;
  if (items.host.empty()) return sums;
  const at::Tensor& rows = items.device;
  const model::NetworkInputs inputs = data.tensors.Select(spec_, rows);
  const at::Tensor features = Computed([&] { return network_.Features(inputs); });
  const at::Tensor weight = data.tensors.weight.index_select(0, rows);
  const at::Tensor importance =
      data.tensors.importance.index_select(0, rows).mul_(weight).to(at::kFloat);
  const at::Tensor target = data.targets.value.index_select(0, rows).to(at::kFloat);

  at::Tensor recorded;  // points of a box
  at::Tensor chosen;    // numbers of discrete actions
  if (spec_.has_box()) {
    recorded = data.tensors.box_action.index_select(0, rows);
  } else {
    chosen = data.tensors.action.index_select(0, rows).unsqueeze(1);
  }
  at::Tensor critic_loss;
  at::Tensor error;
  at::Tensor value;
  for (const int critic : {0, 1}) {
    const at::Tensor values = Computed([&] { return network_.Critic(critic, features, recorded); });
    const at::Tensor of_row = (chosen.defined() ? values.gather(1, chosen) : values).squeeze(1);
    const at::Tensor difference = of_row.sub(target);
    const at::Tensor loss = difference.square().mul(0.5);
    critic_loss = critic_loss.defined() ? critic_loss.add(loss) : loss;
    const at::Tensor size = difference.detach().abs().mul(0.5);
    error = error.defined() ? error.add(size) : size;
    value = value.defined() ? at::minimum(value, of_row.detach()) : of_row.detach();
  }

  const at::Tensor illegal =
      data.tensors.illegal.defined() ? data.tensors.illegal.index_select(0, rows) : at::Tensor();
  const Distribution distribution = Act(features, illegal, noise);
  const at::Tensor temperature = network_.log_temperature().detach().exp();
  const at::Tensor policy_loss = distribution.entropy.mul(temperature)
                                     .add(ExpectedValue(constant_, features.detach(), distribution))
                                     .neg();
  const at::Tensor temperature_loss = distribution.entropy.detach()
                                          .sub(TargetEntropy(illegal, distribution.entropy))
                                          .mul(network_.log_temperature());

  const at::Tensor loss = critic_loss.add(policy_loss).add(temperature_loss).mul(importance).sum();
  torch::autograd::backward({loss}, {});

  // The one copy that waits for the device.
  const std::vector<at::Tensor> host = model::ToHost(
      {error,
       at::stack({weight.sum(), WeightedSum(weight, policy_loss), WeightedSum(weight, critic_loss),
                  WeightedSum(weight, distribution.entropy), importance.sum().to(at::kDouble),
                  importance.square().sum().to(at::kDouble), WeightedSum(weight, value),
                  WeightedSum(weight, error), temperature.flatten()[0].to(at::kDouble)})});
  for (std::size_t i = 0; i < items.host.size(); ++i) {
    absolute_error[static_cast<std::size_t>(items.host[i])] = host[0].const_data_ptr<float>()[i];
  }
  const double* const total = host[1].const_data_ptr<double>();
  sums.weight() = total[0];
  sums.policy_loss() = total[1];
  sums.value_loss() = total[2];
  sums.entropy() = total[3];
  sums.importance() = total[4];
  sums.importance_squares() = total[5];
  sums.metric(0) = total[6];
  sums.metric(1) = total[7];
  sums.metric(2) = total[0] * total[8];
  return sums;
}

}  // namespace shoal::algorithms
