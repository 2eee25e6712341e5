// SPDX-License-Identifier: Apache-2.0
#include <ATen/ops/tensor.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <memory>

#include "rl/algorithms/algorithm.h"
#include "rl/algorithms/algorithm_registry.h"
#include "tests/rl/algorithms/pointer_task.h"
#include "tests/rl/algorithms/trainers.h"

namespace shoal::algorithms {
namespace {

AlgorithmOptions A2cOptions() {
  AlgorithmOptions options;
  options.name = "a2c";
  return options;
}

TEST_CASE("A2C with lambda 1 weighs an action by the n-step return less the value") {
  AlgorithmOptions options = A2cOptions();
  options.lambda = 1;
  options.gamma = 0.5;
  const auto a2c = MakeAlgorithm(options).value();
  UnrollBatch batch;
  batch.length = 3;
  batch.columns = 1;
  batch.flags = {kFirst, 0, 0, 0};
  batch.reward = {1, 2, 3};
  batch.value = {7, -2, 4, 8};
  batch.weight = {1, 1, 1};
  batch.behaviour_log_probability = {-1, -1, -1};
  const Targets targets = a2c->policy()->Estimate(batch, BehaviourView(batch));
  const double last = 3 + .5 * 8;
  const double middle = 2 + .5 * last;
  REQUIRE(targets.advantage[2] == Approx(last - 4));
  REQUIRE(targets.advantage[1] == Approx(middle + 2));
  REQUIRE(targets.advantage[0] == Approx(1 + .5 * middle - 7));
  REQUIRE(targets.value[0] == Approx(1 + .5 * middle));
}

TEST_CASE("A2C's loss takes no notice of how far the policy has moved") {
  const auto a2c = MakeAlgorithm(A2cOptions()).value();
  const auto scalar = [](double value) { return at::tensor({value}, at::kDouble); };
  for (const double behaviour : {-0.7, -5.0}) {
    const PolicyTerms terms =
        a2c->policy()->PolicyLoss({.log_probability = scalar(-0.7),
                                   .entropy = scalar(0.5),
                                   .behaviour_log_probability = scalar(behaviour),
                                   .advantage = scalar(2),
                                   .greedy = scalar(0),
                                   .weights = {.entropy = 0.01}});
    REQUIRE(terms.loss.item<double>() == Approx(0.7 * 2 - 0.01 * 0.5));
    REQUIRE(terms.by_log_probability.item<double>() == Approx(-2));
    REQUIRE(terms.by_entropy.item<double>() == Approx(-0.01));
  }
}

TEST_CASE("with a floor under probabilities an improbable action hardly counts, as in GA3C") {
  AlgorithmOptions options = A2cOptions();
  options.probability_floor = 0.01;
  const auto a2c = MakeAlgorithm(options).value();
  const auto scalar = [](double value) { return at::tensor({value}, at::kDouble); };
  for (const double probability : {0.5, 0.01, 1e-9}) {
    const PolicyTerms terms =
        a2c->policy()->PolicyLoss({.log_probability = scalar(std::log(probability)),
                                   .entropy = scalar(0.5),
                                   .behaviour_log_probability = scalar(-0.7),
                                   .advantage = scalar(2),
                                   .greedy = scalar(0)});
    REQUIRE(terms.loss.item<double>() == Approx(-2 * std::log(probability + 0.01)));
    const double by_log = -2 * probability / (probability + 0.01);
    REQUIRE(terms.by_log_probability.item<double>() == Approx(by_log));
  }
}

TEST_CASE("A2C learns to point at what the goal names") {
  const model::PolicySpec spec = SmallSpec();
  AlgorithmOptions options = A2cOptions();
  options.learning_rate = 2e-2;
  const auto trainer = Trainer(spec, options);
  PointerTask task(spec, {.columns = 32});
  for (int update = 0; update < 60; ++update) {
    const auto report = trainer->Update(task.Play(*PolicyOf(*trainer, spec), 12));
    REQUIRE(report.ok());
    REQUIRE(report->update_epochs == 1);
  }
  task.TakeSuccess();
  task.Play(*PolicyOf(*trainer, spec), 12);
  REQUIRE(task.TakeSuccess() > 0.7);
}

}  // namespace
}  // namespace shoal::algorithms
