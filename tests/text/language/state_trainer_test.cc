// SPDX-License-Identifier: Apache-2.0
#include "text/language/state_trainer.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "tests/text/language/small_state_batch.h"
#include "text/language/state_pooler.h"

namespace shoal::language {
namespace {

std::unique_ptr<StateTrainer> NewTrainer(const StateTrainerOptions& options = {}) {
  return StateTrainer::Create(SmallStateConfig(), options).value();
}

TEST_CASE("training finds the view of the same state and gives back the hidden states") {
  const auto trainer = NewTrainer();
  REQUIRE(trainer->Measure(SomeStateBatch(1000).segments).ok());
  const StateReport before = trainer->Evaluate(SomeStateBatch(500)).value();
  for (std::uint64_t step = 0; step < 150; ++step) {
    REQUIRE(trainer->Step(SomeStateBatch(step), 3e-3).ok());
  }
  const StateReport after = trainer->Evaluate(SomeStateBatch(500)).value();
  REQUIRE(trainer->steps() == 150);
  // Without learning, the partner is one of four.
  REQUIRE(after.accuracy == 1);
  REQUIRE(after.contrast < 0.3 * before.contrast);
  REQUIRE(after.reconstruction < 0.8 * before.reconstruction);
}

TEST_CASE("a loss is the weighted sum of reconstruction and contrast") {
  const auto trainer =
      NewTrainer({.reconstruction_weight = 0.5, .contrast_weight = 2, .temperature = 0.2});
  const StateReport report = trainer->Evaluate(SomeStateBatch(1)).value();
  REQUIRE(report.loss == Approx(0.5 * report.reconstruction + 2 * report.contrast));
  REQUIRE(report.gradient_norm == 0);
}

TEST_CASE("the contrast is that of the definition, of bodies that are means of latents") {
  const StateTrainerOptions options{.temperature = 0.25};
  const auto trainer = NewTrainer(options);
  const StateBatch batch = SomeStateBatch(3);
  const auto pooler = StatePooler::Create(trainer->Parameters(), {}).value();
  const runtime::Tensor latents = pooler->Latents(batch.segments).value();
  const auto latent = [&](std::int64_t segment, std::size_t i) {
    return static_cast<double>(latents.values<float>()[static_cast<std::size_t>(segment) * 6 + i]);
  };
  std::vector<std::vector<double>> bodies;
  for (std::size_t view = 0; view < batch.ends.size(); ++view) {
    std::vector<double> body(6);
    double norm = 0;
    for (std::size_t i = 0; i < 6; ++i) {
      for (std::size_t use = 2 * view; use < 2 * view + 2; ++use) {
        body[i] += static_cast<double>(batch.uses[use].weight) * latent(batch.uses[use].segment, i);
      }
      norm += body[i] * body[i];
    }
    for (double& x : body) x /= std::sqrt(norm);
    bodies.push_back(body);
  }
  double expected = 0;
  for (std::size_t view = 0; view < bodies.size(); ++view) {
    double sum = 0;
    double own = 0;
    for (std::size_t other = 0; other < bodies.size(); ++other) {
      // First views are compared with second views.
      if (other % 2 == view % 2) continue;
      double product = 0;
      for (std::size_t i = 0; i < 6; ++i) product += bodies[view][i] * bodies[other][i];
      const double term = std::exp(product / options.temperature);
      sum += term;
      if (static_cast<std::int64_t>(other) == batch.partners[view]) own = term;
    }
    expected -= std::log(own / sum) / static_cast<double>(bodies.size());
  }
  REQUIRE(trainer->Evaluate(batch)->contrast == Approx(expected).epsilon(1e-4));
}

TEST_CASE("each number of the hidden states is standardised by its own mean and deviation") {
  const HiddenTexts texts = SomeHiddenTexts({40, 60});
  const auto trainer = NewTrainer();
  REQUIRE(trainer->Measure(texts).ok());
  const StateParameters parameters = trainer->Parameters();
  const auto layout = PoolingLayout(parameters.config);
  for (std::size_t i = 0; i < 8; ++i) {
    double sum = 0;
    double squares = 0;
    for (std::size_t row = 0; row < 100; ++row) {
      const auto value = static_cast<double>(texts.states.values<float>()[row * 8 + i]);
      sum += value;
      squares += value * value;
    }
    const double mean = sum / 100;
    const double deviation = std::sqrt((squares - 100 * mean * mean) / 99);
    const auto at = [&](const char* name) {
      return parameters.flat[static_cast<std::size_t>(layout.Find(name)->offset) + i];
    };
    REQUIRE(at(kStateMean) == Approx(mean).epsilon(1e-4));
    REQUIRE(at(kStateScale) == Approx(1 / deviation).epsilon(1e-4));
  }
  REQUIRE(absl::IsInvalidArgument(trainer->Measure(SomeHiddenTexts({1}))));
}

TEST_CASE("equal seeds and batches give equal bits, also across a checkpoint") {
  const auto first = NewTrainer();
  const auto second = NewTrainer();
  const auto other = NewTrainer({.seed = 2});
  for (std::uint64_t step = 0; step < 3; ++step) {
    REQUIRE(first->Step(SomeStateBatch(step), 1e-3).ok());
    REQUIRE(second->Step(SomeStateBatch(step), 1e-3).ok());
    REQUIRE(other->Step(SomeStateBatch(step), 1e-3).ok());
  }
  REQUIRE(first->Parameters().flat == second->Parameters().flat);
  REQUIRE(first->Parameters().flat != other->Parameters().flat);
  training::Checkpoint checkpoint;
  first->Save(checkpoint);
  const auto resumed = NewTrainer({.seed = 3});
  REQUIRE(resumed->Restore(checkpoint).ok());
  REQUIRE(resumed->steps() == 3);
  REQUIRE(first->Step(SomeStateBatch(3), 1e-3).ok());
  REQUIRE(resumed->Step(SomeStateBatch(3), 1e-3).ok());
  REQUIRE(first->Parameters().flat == resumed->Parameters().flat);
}

TEST_CASE("a checkpoint of another config or with damage is refused and changes nothing") {
  training::Checkpoint checkpoint;
  NewTrainer()->Save(checkpoint);
  StateConfig config = SmallStateConfig();
  config.latent = 5;
  const auto other = StateTrainer::Create(config, {}).value();
  const auto before = other->Parameters().flat;
  REQUIRE(absl::IsFailedPrecondition(other->Restore(checkpoint)));
  checkpoint.files["trainer.json"] = "{}";
  REQUIRE_FALSE(NewTrainer()->Restore(checkpoint).ok());
  REQUIRE(absl::IsDataLoss(NewTrainer()->Restore({})));
  REQUIRE(other->Parameters().flat == before);
}

TEST_CASE("batches and options that do not fit are refused by name") {
  const auto error = [](const auto& spoil) {
    StateBatch batch = SomeStateBatch(1);
    spoil(batch);
    const auto report = NewTrainer()->Step(batch, 1e-3);
    REQUIRE(absl::IsInvalidArgument(report.status()));
    return runtime::Message(report.status());
  };
  REQUIRE(error([](StateBatch& batch) { batch.partners[2] = 2; }) ==
          "state batch: view 2 has no partner");
  REQUIRE(error([](StateBatch& batch) { batch.partners[2] = 4; }) ==
          "state batch: view 2 has no partner");
  REQUIRE(error([](StateBatch& batch) { batch.ends[3] = batch.ends[2]; }) ==
          "state batch: view 3 has no segment");
  REQUIRE(error([](StateBatch& batch) { batch.uses[4].segment = 99; }) ==
          "state batch: segment 99 has no states or no weight");
  REQUIRE(error([](StateBatch& batch) { batch.partners.pop_back(); }) ==
          "state batch: not one partner for each view");
  REQUIRE(error([](StateBatch& batch) {
            batch.uses.push_back({0, 1});
          }) == "state batch: segments that no view has");
  REQUIRE(error([](StateBatch& batch) { batch = StateBatch(); }).find("hidden states") == 0);
  REQUIRE(absl::IsInvalidArgument(
      StateTrainer::Create(SmallStateConfig(), {.temperature = 0}).status()));
  REQUIRE(absl::IsInvalidArgument(
      StateTrainer::Create(SmallStateConfig(), {.contrast_weight = -1}).status()));
}

TEST_CASE("a step whose gradient is not finite leaves the parameters as they were") {
  const auto trainer = NewTrainer();
  StateBatch batch = SomeStateBatch(1);
  batch.segments.states.mutable_values<float>()[5] = std::numeric_limits<float>::infinity();
  const auto before = trainer->Parameters().flat;
  REQUIRE(absl::IsInternal(trainer->Step(batch, 1e-3).status()));
  REQUIRE(trainer->Parameters().flat == before);
  REQUIRE(trainer->steps() == 0);
}

}  // namespace
}  // namespace shoal::language
