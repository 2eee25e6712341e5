// SPDX-License-Identifier: Apache-2.0
#include <ATen/ops/tensor.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <memory>
#include <vector>

#include "rl/algorithms/algorithm.h"
#include "rl/algorithms/algorithm_registry.h"
#include "tests/rl/algorithms/pointer_task.h"
#include "tests/rl/algorithms/trainers.h"

namespace shoal::algorithms {
namespace {

AlgorithmOptions ImpalaOptions() {
  AlgorithmOptions options;
  options.name = "impala";
  return options;
}

TEST_CASE("IMPALA corrects with the current policy's log-probabilities and values") {
  AlgorithmOptions options = ImpalaOptions();
  options.lambda = 1;
  options.gamma = 0.5;
  const auto impala = MakeAlgorithm(options).value();
  REQUIRE(impala->requirements().current_policy);
  UnrollBatch batch;
  batch.length = 2;
  batch.columns = 1;
  batch.flags = {kFirst, 0, 0};
  batch.reward = {1, 2};
  batch.value = {100, 100, 100};
  batch.weight = {1, 1};
  batch.behaviour_log_probability = {-1, -1};
  const std::vector<float> likelier_then_rarer = {-0.5F, -2};
  const std::vector<float> value = {3, 4, 6};
  const Targets targets =
      impala->policy()->Estimate(batch, {.log_probability = likelier_then_rarer, .value = value});
  // The first importance weight is capped at 1, the second is exp(-1).
  const double second = 4 + std::exp(-1.0) * (2 + .5 * 6 - 4);
  REQUIRE(targets.value[1] == Approx(second));
  REQUIRE(targets.value[0] == Approx(1 + .5 * second));
  REQUIRE(targets.advantage[1] == Approx(std::exp(-1.0) * (2 + .5 * 6 - 4)));
  REQUIRE(targets.advantage[0] == Approx(1 + .5 * second - 3));
}

TEST_CASE("IMPALA reports importance weights and how many of them are capped") {
  const auto impala = MakeAlgorithm(ImpalaOptions()).value();
  const at::Tensor zeros = at::tensor({0.0, 0.0}, at::kDouble);
  const PolicyTerms terms = impala->policy()->PolicyLoss(
      {.log_probability = at::tensor({-1.0, -1.0}, at::kDouble),
       .entropy = zeros,
       .behaviour_log_probability = at::tensor({-2.0, -0.5}, at::kDouble),
       .advantage = zeros,
       .greedy = zeros});
  REQUIRE(impala->metric_names() == std::vector<std::string>{"importance_weight", "clip_fraction"});
  REQUIRE(terms.metrics[0][0].item<double>() == Approx(std::exp(1.0)));
  REQUIRE(terms.metrics[0][1].item<double>() == Approx(std::exp(-0.5)));
  REQUIRE(terms.metrics[1][0].item<double>() == 1);
  REQUIRE(terms.metrics[1][1].item<double>() == 0);
}

TEST_CASE("IMPALA learns from a policy that is three updates old") {
  const model::PolicySpec spec = SmallSpec();
  AlgorithmOptions options = ImpalaOptions();
  options.learning_rate = 2e-2;
  const auto trainer = Trainer(spec, options);
  PointerTask task(spec, {.columns = 32});
  for (int round = 0; round < 25; ++round) {
    const auto behaviour = PolicyOf(*trainer, spec);
    for (int update = 0; update < 3; ++update) {
      REQUIRE(trainer->Update(task.Play(*behaviour, 12)).ok());
    }
  }
  task.TakeSuccess();
  task.Play(*PolicyOf(*trainer, spec), 12);
  REQUIRE(task.TakeSuccess() > 0.7);
}

}  // namespace
}  // namespace shoal::algorithms
