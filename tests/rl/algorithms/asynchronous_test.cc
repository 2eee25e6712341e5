// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "rl/algorithms/algorithm_registry.h"
#include "tests/rl/algorithms/trainers.h"

namespace shoal::algorithms {
namespace {

AlgorithmOptions OptionsOf(const std::string& name) {
  AlgorithmOptions options;
  options.name = name;
  options.optimiser = "rmsprop";
  options.update_epochs = 1;
  options.minibatches = 1;
  options.target_updates = 3;
  options.schedule = "linear";
  options.schedule_updates = 12;
  return options;
}

model::PolicySpec SpecOf(const AlgorithmOptions& options) {
  return SpecFor(*MakeAlgorithm(options).value(), SmallSpec());
}

void Adopt(PolicyTrainer& worker, const PolicyTrainer& holder) {
  REQUIRE(worker.Adopt(holder.updates(), holder.Parameters(), holder.TargetParameters()).ok());
}

}  // namespace

TEST_CASE("gradients of one rank, computed beside the parameters, make the bits of its updates") {
  const std::string name = GENERATE("a2c", "impala", "reinforce", "dqn");
  const AlgorithmOptions options = OptionsOf(name);
  const model::PolicySpec spec = SpecOf(options);
  const auto alone = Trainer(spec, options);
  const auto holder = Trainer(spec, options);
  const auto worker = Trainer(spec, options);
  REQUIRE(worker->CheckAsynchronous().ok());
  PointerTask task(spec, {});
  for (int update = 0; update < 8; ++update) {
    const UnrollBatch batch = task.Play(*PolicyOf(*alone, spec), 6);
    const UpdateReport expected = alone->Update(batch).value();
    Adopt(*worker, *holder);
    const std::string before = worker->Digest();
    const RankGradient gradient = worker->ComputeGradient(batch).value();
    REQUIRE(worker->Digest() == before);
    const UpdateReport report = holder->ApplyGradient(gradient).value();
    INFO(name << " update " << update);
    REQUIRE(report.update == update + 1);
    REQUIRE(report.gradient_norm == expected.gradient_norm);
    REQUIRE(report.learning_rate == expected.learning_rate);
    REQUIRE(report.policy_loss == expected.policy_loss);
    REQUIRE(report.rows == expected.rows);
    REQUIRE(report.priorities == expected.priorities);
    REQUIRE(holder->Digest() == alone->Digest());
    REQUIRE(holder->TargetParameters() == alone->TargetParameters());
  }
}

TEST_CASE("gradients that two ranks took from the same parameters are both applied, in order") {
  AlgorithmOptions options = OptionsOf("a2c");
  options.optimiser = "sgd";
  options.schedule = "constant";
  options.max_gradient_norm = 0;
  const model::PolicySpec spec = SpecOf(options);
  const auto holder = Trainer(spec, options);
  PointerTask task(spec, {});
  std::vector<RankGradient> gradients;
  for (int rank = 0; rank < 2; ++rank) {
    const auto worker = Trainer(spec, options);
    gradients.push_back(worker->ComputeGradient(task.Play(*PolicyOf(*worker, spec), 6)).value());
  }
  std::vector<float> expected = holder->Parameters();
  for (const RankGradient& gradient : gradients) {
    REQUIRE(holder->ApplyGradient(gradient).ok());
    for (std::size_t i = 0; i < gradient.values.size(); ++i) {
      expected[i] -= static_cast<float>(options.learning_rate) * gradient.values[i];
    }
  }
  const std::vector<float> parameters = holder->Parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    REQUIRE(parameters[i] == Approx(expected[i]).margin(1e-7));
  }
  REQUIRE(holder->updates() == 2);
}

TEST_CASE("a gradient that is not finite, or that the judge refuses, changes nothing") {
  const bool judged = GENERATE(true, false);
  const AlgorithmOptions options = OptionsOf("dqn");
  const model::PolicySpec spec = SpecOf(options);
  const auto holder = Trainer(spec, options);
  PointerTask task(spec, {});
  const auto worker = Trainer(spec, options);
  RankGradient gradient = worker->ComputeGradient(task.Play(*PolicyOf(*worker, spec), 6)).value();
  REQUIRE(holder->ApplyGradient(gradient).ok());
  const std::string before = holder->Digest();
  if (judged) {
    holder->SetJudge([](const UpdateReport&) { return collectives::SharedFailure("too much"); });
  } else {
    gradient.values[1] = std::numeric_limits<float>::quiet_NaN();
  }
  REQUIRE(collectives::IsShared(holder->ApplyGradient(gradient).status()));
  REQUIRE(holder->Digest() == before);
  REQUIRE(holder->updates() == 1);
}

TEST_CASE("gradients and parameters of another size are refused") {
  const AlgorithmOptions options = OptionsOf("a2c");
  const model::PolicySpec spec = SpecOf(options);
  const auto trainer = Trainer(spec, options);
  const std::string before = trainer->Digest();
  const auto size = static_cast<std::size_t>(trainer->gradient_size());
  REQUIRE(absl::IsInvalidArgument(
      trainer->ApplyGradient({.values = std::vector<float>(size + 1)}).status()));
  const std::vector<float> parameters = trainer->Parameters();
  REQUIRE(absl::IsInvalidArgument(trainer->Adopt(1, std::span(parameters).subspan(1), {})));
  // A2C has no target network.
  REQUIRE(absl::IsInvalidArgument(trainer->Adopt(1, parameters, parameters)));
  REQUIRE(trainer->Digest() == before);
}

TEST_CASE("what one gradient for each batch cannot do is refused by the name of its knob") {
  AlgorithmOptions options = OptionsOf("a2c");
  model::PolicySpec spec = SpecOf(options);
  std::string named;
  SECTION("several steps") {
    options.name = "ppo";
    options.minibatches = 4;
    named = "algorithm.minibatches";
  }
  SECTION("a penalty that follows the KL of updates") {
    options.name = "ppo";
    options.kl_coefficient = 1;
    named = "algorithm.kl_coefficient";
  }
  SECTION("moments of observations") {
    spec.normalise_observations = true;
    named = "policy.normalise_observations";
  }
  SECTION("moments of returns") {
    options.normalise_returns = true;
    named = "algorithm.normalise_returns";
  }
  const absl::Status refused = Trainer(spec, options)->CheckAsynchronous();
  REQUIRE(absl::IsInvalidArgument(refused));
  REQUIRE(runtime::Message(refused).find(named) != std::string::npos);
}

}  // namespace shoal::algorithms
