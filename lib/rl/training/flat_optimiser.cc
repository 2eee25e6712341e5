// SPDX-License-Identifier: Apache-2.0
#include "text/language/flat_optimiser.h"

#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros_like.h>

namespace shoal::language {

FlatOptimiser::FlatOptimiser(const OptimiserOptions& options, const model::ParameterLayout& layout,
                             const at::Tensor& flat, const at::Tensor& gradient)
    : options_(options),
      first_(at::zeros_like(flat)),
      second_(options.kind == OptimiserOptions::Kind::kAdamW ? at::zeros_like(flat)
                                                             : at::empty({0}, flat.options())),
      groups_({{.weight_decay = options.weight_decay}, {.weight_decay = 0}}) {
  for (const model::ParameterInfo& info : layout.parameters) {
    Group& group = groups_[info.shape.size() >= 2 ? 0 : 1];
    const auto part = [&](const at::Tensor& whole) {
      return whole.narrow(0, info.offset, info.size);
    };
    group.parameters.push_back(part(flat));
    group.gradients.push_back(part(gradient));
    group.first.push_back(part(first_));
    if (second_.size(0) > 0) group.second.push_back(part(second_));
  }
}

void FlatOptimiser::Step(double rate) {
  ++steps_;
  for (const Group& group : groups_) {
    if (group.parameters.empty()) continue;
    switch (options_.kind) {
      case OptimiserOptions::Kind::kAdamW:
        StepAdamW(group, rate);
        break;
      case OptimiserOptions::Kind::kSgd:
        StepSgd(group, rate);
        break;
      case OptimiserOptions::Kind::kLion:
        StepLion(group, rate);
        break;
    }
  }
}

void FlatOptimiser::StepAdamW(const Group& group, double rate) {
  const at::Tensor steps = at::full({}, static_cast<double>(steps_), first_.options());
  const std::vector<at::Tensor> counts(group.parameters.size(), steps);
  at::_fused_adamw_(group.parameters, group.gradients, group.first, group.second, {}, counts, rate,
                    options_.beta1, options_.beta2, group.weight_decay, options_.epsilon,
                    /*amsgrad=*/false, /*maximize=*/false);
}

void FlatOptimiser::StepSgd(const Group& group, double rate) {
  for (std::size_t i = 0; i < group.parameters.size(); ++i) {
    at::Tensor parameter = group.parameters[i];
    at::Tensor first = group.first[i];
    first.mul_(options_.beta1).add_(group.gradients[i]);
    parameter.mul_(1 - rate * group.weight_decay).sub_(first, rate);
  }
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

void FlatOptimiser::Restore(const at::Tensor& first, const at::Tensor& second, std::int64_t steps) {
  first_.copy_(first);
  second_.copy_(second);
  steps_ = steps;
}

}  // namespace shoal::language
