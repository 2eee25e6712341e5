// SPDX-License-Identifier: Apache-2.0
#include "rl/training/flat_optimiser.h"

#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros_like.h>
#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>
#include <torch/optim/rmsprop.h>
#include <torch/optim/sgd.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <string_view>
#include <vector>

namespace shoal::training {
namespace {

// Parameters, their gradient, and an optimiser with weight decay on all of them.
struct Flat {
  Flat(const OptimiserOptions& options, const std::vector<float>& start)
      : parameters(at::tensor(start)),
        gradient(at::zeros_like(parameters)),
        optimiser(options, parameters, gradient, {{.offset = 0, .size = parameters.numel()}}) {}

  void Step(double rate, const std::vector<float>& with) {
    gradient.copy_(at::tensor(with));
    optimiser.Step(rate);
  }
  std::vector<float> values() const {
    const float* const begin = parameters.data_ptr<float>();
    return {begin, begin + parameters.numel()};
  }

  at::Tensor parameters;
  at::Tensor gradient;
  FlatOptimiser optimiser;
};

TEST_CASE("the first step is one learning rate long against the sign of the gradient") {
  Flat flat({}, {1, 1});
  flat.Step(0.1, {5, -1e-3F});
  REQUIRE(flat.values()[0] == Approx(0.9));
  REQUIRE(flat.values()[1] == Approx(1.1));
}

TEST_CASE("two steps of Adam are those of the equations") {
  Flat flat({.epsilon = 1e-5}, {0.5F});
  double m = 0;
  double v = 0;
  double expected = 0.5;
  for (int step = 1; step <= 2; ++step) {
    const double g = 0.3 * step;
    m = 0.9 * m + 0.1 * g;
    v = 0.999 * v + 0.001 * g * g;
    expected -= 0.01 * (m / (1 - std::pow(0.9, step))) /
                (std::sqrt(v / (1 - std::pow(0.999, step))) + 1e-5);
    flat.Step(0.01, {static_cast<float>(g)});
  }
  REQUIRE(flat.values()[0] == Approx(expected).epsilon(1e-5));
}

TEST_CASE("weight decay shrinks a parameter without gradient, where its part decays") {
  at::Tensor parameters = at::tensor(std::vector<float>{2, 2, 2});
  const at::Tensor gradient = at::zeros_like(parameters);
  FlatOptimiser optimiser({.weight_decay = 0.5}, parameters, gradient,
                          {{.offset = 0, .size = 1}, {.offset = 1, .size = 1, .decays = false}});
  optimiser.Step(0.1);
  REQUIRE(parameters[0].item<float>() == Approx(2 * (1 - 0.05)));
  REQUIRE(parameters[1].item<float>() == 2);
  REQUIRE(parameters[2].item<float>() == 2);
}

const std::vector<float> kStart = {1, -2};
constexpr double kRate = 0.1;
const std::vector<std::vector<float>> kGradients = {{0.5F, -1}, {-0.25F, 2}, {1, 0.5F}, {0, 3}};

std::vector<float> AfterOurSteps(const OptimiserOptions& options) {
  Flat flat(options, kStart);
  for (const std::vector<float>& gradient : kGradients) flat.Step(kRate, gradient);
  return flat.values();
}

// The same steps by an optimiser of torch::optim.
template <typename Optimiser, typename Options>
std::vector<float> AfterTheirSteps(const Options& options) {
  at::Tensor parameters = at::tensor(kStart).requires_grad_();
  Optimiser optimiser({parameters}, options);
  for (const std::vector<float>& gradient : kGradients) {
    parameters.mutable_grad() = at::tensor(gradient);
    optimiser.step();
  }
  return {parameters[0].item<float>(), parameters[1].item<float>()};
}

void RequireSame(const std::vector<float>& ours, const std::vector<float>& theirs) {
  REQUIRE(ours.size() == theirs.size());
  for (std::size_t i = 0; i < ours.size(); ++i) {
    REQUIRE(ours[i] == Approx(theirs[i]).epsilon(1e-6));
    REQUIRE(ours[i] != kStart[i]);
  }
}

TEST_CASE("steps are those of the optimisers of the same names in torch::optim") {
  using Kind = OptimiserOptions::Kind;
  RequireSame(AfterOurSteps({.kind = Kind::kAdam, .epsilon = 1e-5, .weight_decay = 0.2}),
              AfterTheirSteps<torch::optim::Adam>(
                  torch::optim::AdamOptions(kRate).eps(1e-5).weight_decay(0.2)));
  RequireSame(AfterOurSteps({.kind = Kind::kAdamW, .epsilon = 1e-5, .weight_decay = 0.2}),
              AfterTheirSteps<torch::optim::AdamW>(
                  torch::optim::AdamWOptions(kRate).eps(1e-5).weight_decay(0.2)));
  RequireSame(AfterOurSteps({.kind = Kind::kSgd, .beta1 = 0}),
              AfterTheirSteps<torch::optim::SGD>(torch::optim::SGDOptions(kRate)));
  RequireSame(AfterOurSteps({.kind = Kind::kSgd, .beta1 = 0.8}),
              AfterTheirSteps<torch::optim::SGD>(torch::optim::SGDOptions(kRate).momentum(0.8)));
  RequireSame(AfterOurSteps({.kind = Kind::kRmsProp, .beta1 = 0, .beta2 = 0.9, .epsilon = 0.01}),
              AfterTheirSteps<torch::optim::RMSprop>(
                  torch::optim::RMSpropOptions(kRate).alpha(0.9).eps(0.01)));
  RequireSame(AfterOurSteps({.kind = Kind::kRmsProp, .beta1 = 0.8, .beta2 = 0.9, .epsilon = 0.01}),
              AfterTheirSteps<torch::optim::RMSprop>(
                  torch::optim::RMSpropOptions(kRate).alpha(0.9).eps(0.01).momentum(0.8)));
}

TEST_CASE("adam with weight decay steps by the sign of the parameter where there is no gradient") {
  // The decay goes through the mean of squares, so its size does not matter; AdamW's is decoupled.
  for (const double decay : {0.01, 0.5}) {
    Flat coupled({.kind = OptimiserOptions::Kind::kAdam, .weight_decay = decay}, {2, -2});
    coupled.Step(0.1, {0, 0});
    REQUIRE(coupled.values()[0] == Approx(1.9));
    REQUIRE(coupled.values()[1] == Approx(-1.9));
    for (const auto kind : {OptimiserOptions::Kind::kAdamW, OptimiserOptions::Kind::kSgd,
                            OptimiserOptions::Kind::kLion, OptimiserOptions::Kind::kRmsProp}) {
      Flat decoupled({.kind = kind, .weight_decay = decay}, {2, -2});
      decoupled.Step(0.1, {0, 0});
      REQUIRE(decoupled.values()[0] == Approx(2 * (1 - 0.1 * decay)));
    }
  }
}

TEST_CASE("restored moments go on with the same bits") {
  for (const std::string_view name : OptimiserNames()) {
    const OptimiserOptions::Kind kind = ParseOptimiser(name).value();
    const std::vector<float> gradient = {1, -2, 3};
    Flat one({.kind = kind}, {1, 2, 3});
    one.Step(0.1, gradient);
    Flat two({.kind = kind}, one.values());
    two.optimiser.Restore(one.optimiser.moments());
    one.Step(0.1, gradient);
    two.Step(0.1, gradient);
    REQUIRE(one.values() == two.values());
  }
}

TEST_CASE("gradients above the norm are scaled down to it, others stay") {
  const at::Tensor gradient = at::tensor(std::vector<float>{3, 4});
  REQUIRE(ClipByNorm(gradient, 10) == Approx(5));
  REQUIRE(gradient[1].item<float>() == 4);
  REQUIRE(ClipByNorm(gradient, 1) == Approx(5));
  REQUIRE(gradient[0].item<float>() == Approx(.6));
  REQUIRE(ClipByNorm(gradient, 0) == Approx(1));
}

TEST_CASE("an optimiser's name or options that make no sense are refused") {
  REQUIRE(ParseOptimiser("lion").value() == OptimiserOptions::Kind::kLion);
  REQUIRE(runtime::Message(ParseOptimiser("adam2").status()) ==
          "optimiser 'adam2' is none of adamw, sgd, lion, adam, rmsprop");
  REQUIRE(absl::IsInvalidArgument(OptimiserOptions{.beta1 = 1}.Validate()));
  REQUIRE(absl::IsInvalidArgument(OptimiserOptions{.weight_decay = -1}.Validate()));
}

}  // namespace
}  // namespace shoal::training
