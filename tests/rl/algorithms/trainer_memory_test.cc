// SPDX-License-Identifier: Apache-2.0
#include "rl/algorithms/trainer_memory.h"

#include <catch2/catch.hpp>
#include <memory>

#include "rl/algorithms/algorithm.h"
#include "rl/algorithms/algorithm_registry.h"
#include "rl/model/safetensors.h"
#include "tests/rl/algorithms/point_episodes.h"
#include "tests/rl/algorithms/pointer_task.h"
#include "tests/rl/algorithms/trainers.h"
#include "tests/rl/model/memory_meter.h"

namespace shoal::algorithms {
namespace {

model::PolicySpec Wide() {
  model::PolicySpec spec = SmallSpec();
  spec.embedding_size = 64;
  spec.projection_size = 32;
  spec.hidden = {192, 128};
  spec.value_hidden = {160};
  return spec;
}

constexpr std::int64_t kColumns = 48;
constexpr std::int64_t kLength = 12;

struct Compared {
  TrainerMemory estimate;
  std::int64_t at_rest = 0;
  std::int64_t peak = 0;
  std::int64_t numbers = 0;

  double ratio() const {
    return static_cast<double>(estimate.total_bytes()) / static_cast<double>(peak);
  }
};

Compared Compare(const model::PolicySpec& spec, const AlgorithmOptions& options,
                 const UnrollBatch& batch) {
  const auto contents = static_cast<std::int64_t>(batch.embeddings.size()) / spec.embedding_size;
  Compared compared;
  compared.estimate =
      EstimateTrainerMemory(
          spec, options, {.length = batch.length, .columns = batch.columns, .contents = contents})
          .value();
  const auto meter = std::make_shared<model::MemoryMeter>();
  const c10::DebugInfoGuard guard(c10::DebugInfoKind::PROFILER_STATE, meter);
  const auto trainer = Trainer(spec, options);
  compared.at_rest = meter->now();
  REQUIRE(trainer->Update(batch).ok());
  compared.peak = meter->peak();
  const std::string file = trainer->SerializeParameters({}).value();
  const auto parameters = model::SafetensorsView::Parse(file).value();
  for (const auto& entry : parameters.entries()) {
    std::int64_t size = 1;
    for (const std::int64_t dimension : entry.shape) size *= dimension;
    compared.numbers += size;
  }
  return compared;
}

Compared Compare(const model::PolicySpec& spec, const AlgorithmOptions& options) {
  PointerTask task(spec, {.columns = kColumns});
  return Compare(spec, options, task.Play(*PolicyOf(*Trainer(spec, options), spec), kLength));
}

// A trainer holds 14 or so floats more, in which it reduces sums over ranks.
constexpr std::int64_t kSmall = 256;

void RequireExact(const Compared& compared) {
  const TrainerMemory& memory = compared.estimate;
  REQUIRE(memory.parameters == compared.numbers);
  const std::int64_t arrays =
      memory.parameter_bytes + memory.target_bytes + memory.gradient_bytes + memory.optimiser_bytes;
  REQUIRE(compared.at_rest >= arrays);
  REQUIRE(compared.at_rest <= arrays + kSmall);
}

}  // namespace

TEST_CASE("parameters, gradient, target network and moments take what is said before the start") {
  for (const char* const optimiser : {"adamw", "adam", "rmsprop", "sgd", "lion"}) {
    INFO(optimiser);
    AlgorithmOptions options;
    options.optimiser = optimiser;
    RequireExact(Compare(Wide(), options));
  }
  AlgorithmOptions options;
  options.name = "dqn";
  model::PolicySpec values = Wide();
  values.action_values = true;
  const Compared compared = Compare(values, options);
  REQUIRE(compared.estimate.target_bytes > 0);
  RequireExact(compared);
}

TEST_CASE("one moment in place of two saves the optimiser an array of the trained parameters") {
  AlgorithmOptions options;
  const UpdateShape shape{.length = 1, .columns = 1, .contents = 1};
  const auto two = EstimateTrainerMemory(Wide(), options, shape).value();
  options.optimiser = "lion";
  const auto one = EstimateTrainerMemory(Wide(), options, shape).value();
  REQUIRE(two.optimiser_bytes == 2 * one.optimiser_bytes);
  REQUIRE(one.optimiser_bytes == two.gradient_bytes);
}

TEST_CASE("the estimate of an update is within a quarter of the peak of its tensors") {
  model::PolicySpec narrow = Wide();
  narrow.hidden = {48};
  narrow.value_hidden = {32};
  model::PolicySpec gated = Wide();
  gated.core = "gru";
  gated.core_size = 96;
  model::PolicySpec remembering = gated;
  remembering.core = "lstm";
  AlgorithmOptions once;
  once.minibatches = 1;
  AlgorithmOptions accumulated = once;
  accumulated.accumulation_steps = 4;
  for (const model::PolicySpec& spec : {Wide(), narrow, gated, remembering}) {
    for (const AlgorithmOptions& options : {AlgorithmOptions(), once, accumulated}) {
      const Compared compared = Compare(spec, options);
      INFO("core " << spec.core << ", layers " << spec.hidden.size() << ", minibatches "
                   << options.minibatches << " in " << options.accumulation_steps << ": "
                   << ToJson(compared.estimate) << " against " << compared.peak);
      REQUIRE(compared.ratio() > 0.75);
      REQUIRE(compared.ratio() < 1.25);
    }
  }
}

TEST_CASE("so it is with action values and their target network, with quantiles too") {
  for (const char* const name : {"dqn", "iqn"}) {
    AlgorithmOptions options;
    options.name = name;
    const auto algorithm = MakeAlgorithm(options).value();
    const Compared compared = Compare(SpecFor(*algorithm, Wide()), options);
    INFO(name << ": " << ToJson(compared.estimate) << " against " << compared.peak);
    REQUIRE(compared.ratio() > 0.75);
    REQUIRE(compared.ratio() < 1.25);
  }
}

TEST_CASE("so it is with the densities of a Gaussian of many dimensions") {
  model::PolicySpec spec;
  spec.head = "gaussian";
  spec.observation_size = 3;
  spec.action_count = 64;
  spec.content_fields = {};
  spec.past_requests = false;
  spec.hidden = {48};
  spec.value_hidden = {32};
  AlgorithmOptions once;
  once.minibatches = 1;
  AlgorithmOptions current;
  current.name = "impala";
  for (const AlgorithmOptions& options : {once, AlgorithmOptions(), current}) {
    const UnrollBatch batch =
        PointEpisodes(*PolicyOf(*Trainer(spec, options), spec), 512, 1, model::Choice::kSample);
    const Compared compared = Compare(spec, options, batch);
    INFO(options.name << ", minibatches " << options.minibatches << ": "
                      << ToJson(compared.estimate) << " against " << compared.peak);
    REQUIRE(compared.ratio() > 0.75);
    REQUIRE(compared.ratio() < 1.25);
  }
}

TEST_CASE(
    "so it is with the activations of a convolution, which are most of what an update takes") {
  AlgorithmOptions values;
  values.name = "dqn";
  values.minibatches = 1;
  for (const char* const convolution : {"small", "nature", "impala"}) {
    model::PolicySpec spec = Wide();
    spec.convolution = convolution;
    spec.frame_shape = {44, 44, 3};
    spec.observation_size = 44 * 44 * 3;
    for (const AlgorithmOptions& options : {AlgorithmOptions(), values}) {
      const auto algorithm = MakeAlgorithm(options).value();
      const Compared compared = Compare(SpecFor(*algorithm, spec), options);
      INFO(convolution << ", " << options.name << ": " << ToJson(compared.estimate) << " against "
                       << compared.peak);
      REQUIRE(compared.estimate.activation_bytes > compared.estimate.total_bytes() / 4);
      REQUIRE(compared.ratio() > 0.75);
      REQUIRE(compared.ratio() < 1.25);
    }
  }
}

TEST_CASE("a batch that cannot be and an algorithm that is none are refused") {
  REQUIRE(absl::IsInvalidArgument(
      EstimateTrainerMemory(Wide(), {}, {.length = -1, .columns = 1, .contents = 0}).status()));
  REQUIRE(absl::IsInvalidArgument(
      EstimateTrainerMemory(Wide(), {}, {.length = std::int64_t{1} << 40, .columns = 1 << 20})
          .status()));
  AlgorithmOptions unknown;
  unknown.name = "nothing";
  REQUIRE_FALSE(EstimateTrainerMemory(Wide(), unknown, {.length = 1, .columns = 1}).ok());
}

}  // namespace shoal::algorithms
