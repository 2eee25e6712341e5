// SPDX-License-Identifier: Apache-2.0
#include "rl/training/flat_optimiser.h"

#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/zeros_like.h>

#include <string>

namespace shoal::training {
namespace {

absl::Status CheckWithin(const char* name, double value, double low, double high) {
  if (value >= low && value <= high) return absl::OkStatus();
  return runtime::InvalidArgument(std::string(name) + " " + std::to_string(value) +
                                  " is not from " + std::to_string(low) + " to " +
                                  std::to_string(high));
}

}  // namespace

absl::Status OptimiserOptions::Validate() const {
  constexpr double kBelowOne = 1 - 1e-9;
  SHOAL_RETURN_IF_ERROR(CheckWithin("beta1", beta1, 0, kBelowOne));
  SHOAL_RETURN_IF_ERROR(CheckWithin("beta2", beta2, 0, kBelowOne));
  SHOAL_RETURN_IF_ERROR(CheckWithin("epsilon", epsilon, 0, 1));
  return CheckWithin("weight decay", weight_decay, 0, 1e3);
}

absl::StatusOr<OptimiserOptions::Kind> ParseOptimiser(std::string_view name) {
  if (name == "adamw") return OptimiserOptions::Kind::kAdamW;
  if (name == "sgd") return OptimiserOptions::Kind::kSgd;
  if (name == "lion") return OptimiserOptions::Kind::kLion;
  return runtime::InvalidArgument("optimiser '" + std::string(name) +
                                  "' is none of adamw, sgd, lion");
}

FlatOptimiser::FlatOptimiser(const OptimiserOptions& options, const at::Tensor& parameters,
                             const at::Tensor& gradient, const std::vector<Part>& parts)
    : options_(options),
      moments_{.first = at::zeros_like(parameters),
               .second = options.kind == OptimiserOptions::Kind::kAdamW
                             ? at::zeros_like(parameters)
                             : at::empty({0}, parameters.options())},
      groups_({{.weight_decay = options.weight_decay}, {.weight_decay = 0}}) {
  for (const Part& part : parts) {
    Group& group = groups_[part.decays ? 0 : 1];
    const auto of = [&part](const at::Tensor& whole) {
      return whole.narrow(0, part.offset, part.size);
    };
    group.parameters.push_back(of(parameters));
    group.gradients.push_back(of(gradient));
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
  const at::Tensor steps =
      at::full({}, static_cast<double>(moments_.steps), moments_.first.options());
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

void FlatOptimiser::Restore(const Moments& moments) {
  moments_.first.copy_(moments.first);
  moments_.second.copy_(moments.second);
  moments_.steps = moments.steps;
}

double ClipByNorm(const at::Tensor& gradient, double max_norm) {
  const double norm = at::linalg_vector_norm(gradient, 2, {}, false, at::kDouble).item<double>();
  if (max_norm > 0 && norm > max_norm) at::Tensor(gradient).mul_(max_norm / norm);
  return norm;
}

}  // namespace shoal::training
