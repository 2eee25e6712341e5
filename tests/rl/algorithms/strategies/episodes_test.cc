// SPDX-License-Identifier: Apache-2.0
// CEM and GRPO, which judge whole episodes.
#include <catch2/catch.hpp>
#include <memory>
#include <vector>

#include "rl/algorithms/algorithm.h"
#include "rl/algorithms/algorithm_registry.h"
#include "tests/rl/algorithms/pointer_task.h"
#include "tests/rl/algorithms/trainers.h"

namespace shoal::algorithms {
namespace {

AlgorithmOptions Named(const std::string& name) {
  AlgorithmOptions options;
  options.name = name;
  options.update_epochs = 1;
  options.minibatches = 1;
  options.entropy = 0;
  return options;
}

// Episodes of two steps with these returns, half of it at each step.
UnrollBatch EpisodesWith(const std::vector<float>& returns) {
  UnrollBatch batch;
  batch.length = 2;
  batch.columns = static_cast<std::int64_t>(returns.size());
  batch.flags.assign(returns.size(), kFirst);
  batch.flags.insert(batch.flags.end(), returns.size(), kTerminated);
  batch.flags.insert(batch.flags.end(), returns.size(), 0);
  for (int step = 0; step < 2; ++step) {
    for (const float sum : returns) batch.reward.push_back(sum / 2);
  }
  batch.action.assign(2 * returns.size(), 0);
  batch.weight.assign(2 * returns.size(), 1.0F);
  return batch;
}

TEST_CASE("GRPO's advantage is an episode's return against others of its group, at each step") {
  // algorithms of "DeepSeekMath" on these rewards: mean .4375, deviation .46351240544.
  const auto grpo = MakeAlgorithm(Named("grpo")).value();
  UnrollBatch batch = EpisodesWith({1, 0, 0, 1, .5, 0, 1, 0});
  std::vector<float> advantage = grpo->policy()->Estimate(batch, {}).advantage;
  for (const std::size_t step : {std::size_t{0}, std::size_t{8}}) {
    REQUIRE(advantage[step] == Approx(1.21355975));
    REQUIRE(advantage[step + 1] == Approx(-.94387981));
    REQUIRE(advantage[step + 4] == Approx(.13483997));
  }
  batch.group = {1, 1, 2, 2, 3, 3, 3, 4};
  advantage = grpo->policy()->Estimate(batch, {}).advantage;
  REQUIRE(advantage[0] == Approx(1));
  REQUIRE(advantage[1] == Approx(-1));
  // A group of one says nothing.
  REQUIRE(advantage[7] == 0);
}

TEST_CASE("CEM imitates the episodes from the percentile on, and all where all are alike") {
  AlgorithmOptions options = Named("cem");
  options.elite_percentile = 70;
  const auto cem = MakeAlgorithm(options).value();
  REQUIRE(cem->policy()->Estimate(EpisodesWith({1, 5, 3, 5}), {}).advantage ==
          std::vector<float>{0, 1, 0, 1, 0, 1, 0, 1});
  REQUIRE(cem->policy()->Estimate(EpisodesWith({2, 2}), {}).advantage ==
          std::vector<float>{1, 1, 1, 1});
}

TEST_CASE("Advantages of CEM and GRPO are never normalised") {
  for (const char* name : {"cem", "grpo"}) {
    REQUIRE(MakeAlgorithm(Named(name)).value()->requirements().keeps_advantages);
  }
}

TEST_CASE("CEM and GRPO learn to point at what the goal names") {
  for (const char* name : {"cem", "grpo"}) {
    const model::PolicySpec spec = SmallSpec();
    AlgorithmOptions options = Named(name);
    options.learning_rate = 2e-2;
    options.elite_percentile = 60;
    const auto trainer = Trainer(spec, options);
    PointerTask task(spec, {.columns = 64});
    for (int update = 0; update < 120; ++update) {
      REQUIRE(trainer->Update(task.Play(*PolicyOf(*trainer, spec), 3)).ok());
    }
    task.TakeSuccess();
    task.Play(*PolicyOf(*trainer, spec), 12);
    INFO(name);
    REQUIRE(task.TakeSuccess() > 0.5);
  }
}

}  // namespace
}  // namespace shoal::algorithms
