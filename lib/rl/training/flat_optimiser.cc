// SPDX-License-Identifier: Apache-2.0
#include "rl/training/flat_optimiser.h"

#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_addcdiv.h>
#include <ATen/ops/_foreach_addcmul.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_foreach_sqrt.h>
#include <ATen/ops/_fused_adam.h>
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/_fused_sgd.h>
#include <ATen/ops/dot.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros_like.h>

#include <cmath>

namespace shoal::training {

namespace {

std::vector<FlatOptimiser::Range> RangesOf(const at::Tensor& parameters, const at::Tensor& gradient,
                                           const std::vector<FlatOptimiser::Part>& parts) {
  std::vector<FlatOptimiser::Range> ranges;
  for (const FlatOptimiser::Part& part : parts) {
    ranges.push_back({parameters.narrow(0, part.offset, part.size),
                      gradient.narrow(0, part.offset, part.size), part.offset, part.decays});
  }
  return ranges;
}

}  // namespace

FlatOptimiser::FlatOptimiser(const OptimiserOptions& options, const at::Tensor& parameters,
                             const at::Tensor& gradient, const std::vector<Part>& parts)
    : FlatOptimiser(options, parameters, RangesOf(parameters, gradient, parts)) {}

FlatOptimiser::FlatOptimiser(const OptimiserOptions& options, const at::Tensor& moments,
                             const std::vector<Range>& ranges)
    : options_(options),
      moments_{.first = at::zeros_like(moments),
               .second = HasSecondMoment(options.kind) ? at::zeros_like(moments)
                                                       : at::empty({0}, moments.options())},
      groups_({{.weight_decay = options.weight_decay}, {.weight_decay = 0}}) {
  for (const Range& range : ranges) {
    Group& group = groups_[range.decays ? 0 : 1];
    const auto of = [&range](const at::Tensor& all) {
      return all.narrow(0, range.offset, range.parameters.size(0));
    };
    group.parameters.push_back(range.parameters);
    group.gradients.push_back(range.gradient);
    group.first.push_back(of(moments_.first));
    if (moments_.second.size(0) > 0) group.second.push_back(of(moments_.second));
  }
}

void FlatOptimiser::Step(double rate) {
  ++moments_.steps;
  for (const Group& group : groups_) {
    if (group.parameters.empty()) continue;
    switch (options_.kind) {
      case OptimiserOptions::Kind::kAdamW:
      case OptimiserOptions::Kind::kAdam:
        StepAdam(group, rate);
        break;
      case OptimiserOptions::Kind::kSgd:
        StepSgd(group, rate);
        break;
      case OptimiserOptions::Kind::kLion:
        StepLion(group, rate);
        break;
      case OptimiserOptions::Kind::kRmsProp:
        StepRmsProp(group, rate);
        break;
    }
  }
}

void FlatOptimiser::StepAdam(const Group& group, double rate) {
  const at::Tensor steps =
      at::full({}, static_cast<double>(moments_.steps), moments_.first.options());
  const std::vector<at::Tensor> counts(group.parameters.size(), steps);
  const auto with = [&](auto step) {
    step(group.parameters, group.gradients, group.first, group.second, at::TensorList(), counts,
         rate, options_.beta1, options_.beta2, group.weight_decay, options_.epsilon,
         /*amsgrad=*/false, /*maximize=*/false);
  };
  if (options_.kind == OptimiserOptions::Kind::kAdam) {
    with([](const auto&... inputs) { at::_fused_adam_(inputs...); });
  } else {
    with([](const auto&... inputs) { at::_fused_adamw_(inputs...); });
  }
}

void FlatOptimiser::StepSgd(const Group& group, double rate) {
  if (group.weight_decay > 0) {
    // The kernel's own decay goes through the momentum and is not decoupled.
    at::_foreach_mul_(group.parameters, 1 - rate * group.weight_decay);
  }
  // The kernel refuses a momentum buffer where there is no momentum.
  const std::vector<at::Tensor> none;
  at::_fused_sgd_(group.parameters, group.gradients, options_.beta1 > 0 ? group.first : none,
                  /*weight_decay=*/0, options_.beta1, rate, /*dampening=*/0, /*nesterov=*/false,
                  /*maximize=*/false, /*is_first_step=*/false);
}

void FlatOptimiser::StepRmsProp(const Group& group, double rate) {
  if (group.weight_decay > 0) {
    at::_foreach_mul_(group.parameters, 1 - rate * group.weight_decay);
  }
  at::_foreach_mul_(group.second, options_.beta2);
  at::_foreach_addcmul_(group.second, group.gradients, group.gradients, 1 - options_.beta2);
  std::vector<at::Tensor> divisor = at::_foreach_sqrt(group.second);
  at::_foreach_add_(divisor, options_.epsilon);
  at::_foreach_mul_(group.first, options_.beta1);
  at::_foreach_addcdiv_(group.first, group.gradients, divisor);
  at::_foreach_add_(group.parameters, group.first, -rate);
}

void FlatOptimiser::StepLion(const Group& group, double rate) {
  for (std::size_t i = 0; i < group.parameters.size(); ++i) {
    const at::Tensor& gradient = group.gradients[i];
    at::Tensor parameter = group.parameters[i];
    at::Tensor first = group.first[i];
    const at::Tensor direction =
        first.mul(options_.beta1).add_(gradient, 1 - options_.beta1).sign_();
    parameter.mul_(1 - rate * group.weight_decay).sub_(direction, rate);
    first.mul_(options_.beta2).add_(gradient, 1 - options_.beta2);
  }
}

void FlatOptimiser::Restore(const Moments& moments) {
  moments_.first.copy_(moments.first);
  moments_.second.copy_(moments.second);
  moments_.steps = moments.steps;
}

double ClipByNorm(const at::Tensor& gradient, double max_norm) {
  const double norm = std::sqrt(at::dot(gradient, gradient).item<double>());
  if (max_norm > 0 && norm > max_norm) at::Tensor(gradient).mul_(max_norm / norm);
  return norm;
}

}  // namespace shoal::training
