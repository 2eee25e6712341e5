// SPDX-License-Identifier: Apache-2.0
#include "rl/algorithms/policy_trainer.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <set>
#include <string>
#include <string_view>

#include "rl/estimators/kl_control.h"
#include "tests/doubles/temporary_folder.h"
#include "tests/rl/algorithms/pointer_task.h"
#include "tests/rl/algorithms/trainers.h"

namespace shoal::algorithms {
namespace {

AlgorithmOptions OneStep() {
  AlgorithmOptions options;
  options.update_epochs = 1;
  options.minibatches = 1;
  return options;
}

void RequireRatioOne(const model::PolicySpec& spec) {
  const auto trainer = Trainer(spec, OneStep());
  PointerTask task(spec, {});
  const auto policy = PolicyOf(*trainer, spec);
  task.Play(*policy, 4);
  const auto report = trainer->Update(task.Play(*policy, 9));
  REQUIRE(report.ok());
  REQUIRE(report->approximate_kl < 1e-9);
  REQUIRE(report->algorithm_metrics.at(0).second == 0);
  REQUIRE(report->entropy > 0.3);
  REQUIRE(report->gradient_norm > 0);
}

TEST_CASE("on the first pass the trainer finds the probabilities that inference gave") {
  model::PolicySpec spec = SmallSpec();
  spec.similarity_weight = 1.5;
  RequireRatioOne(spec);
}

TEST_CASE(
    "the trainer finds the probabilities of inference through a core, over episode borders and "
    "final rows") {
  model::PolicySpec spec = SmallSpec();
  spec.core = GENERATE("gru", "lstm");
  RequireRatioOne(spec);
}

TEST_CASE(
    "the trainer finds the probabilities of inference without past requests and with trained "
    "keys") {
  model::PolicySpec spec = SmallSpec();
  spec.past_requests = false;
  spec.train_keys = true;
  RequireRatioOne(spec);
}

TEST_CASE("the trainer finds the probabilities of inference where bodies have shorter vectors") {
  model::PolicySpec spec = SmallSpec();
  spec.content_fields = {"goal", "request", "body"};
  spec.body_size = 5;
  spec.context_init = 1.0;
  spec.query_init = 1.0;
  REQUIRE(spec.Validate().ok());
  RequireRatioOne(spec);
}

TEST_CASE("the trainer finds the probabilities of inference for discrete actions") {
  model::PolicySpec spec = SmallSpec();
  spec.head = "discrete";
  spec.action_count = 5;
  RequireRatioOne(spec);
}

TEST_CASE("PPO learns to point at what the goal names, in bfloat16 too") {
  const bool trained = GENERATE(false, true);
  model::ComputeDevice device;
  device.precision = GENERATE(model::Precision::kFloat32, model::Precision::kBfloat16);
  model::PolicySpec spec = SmallSpec();
  spec.train_keys = trained;
  AlgorithmOptions options;
  options.learning_rate = 1e-2;
  options.update_epochs = 4;
  const auto trainer = Trainer(spec, options, device);
  PointerTask task(spec, {.columns = 32});
  for (int update = 0; update < 25; ++update) {
    REQUIRE(trainer->Update(task.Play(*PolicyOf(*trainer, spec), 12)).ok());
    if (update == 0) REQUIRE(task.TakeSuccess() < 0.35);
  }
  task.TakeSuccess();
  task.Play(*PolicyOf(*trainer, spec), 12);
  REQUIRE(task.TakeSuccess() > 0.8);
}

TEST_CASE("REINFORCE with a baseline learns it too") {
  const model::PolicySpec spec = SmallSpec();
  AlgorithmOptions options;
  options.name = "reinforce";
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

TEST_CASE("the same seed and batches give the same parameters, another seed gives others") {
  const model::PolicySpec spec = SmallSpec();
  const auto run = [&](std::uint64_t seed) {
    collectives::SingleRank alone;
    const auto trainer = PolicyTrainer::Create(spec, {}, seed, alone).value();
    PointerTask task(spec, {});
    for (int i = 0; i < 3; ++i) {
      REQUIRE(trainer->Update(task.Play(*PolicyOf(*trainer, spec), 6)).ok());
    }
    return trainer->Digest();
  };
  REQUIRE(run(1) == run(1));
  REQUIRE(run(1) != run(2));
}

TEST_CASE("a trainer that loaded a checkpoint goes on with the same bits") {
  model::PolicySpec spec = SmallSpec();
  spec.core = GENERATE("none", "lstm");
  AlgorithmOptions options;
  const bool penalty = GENERATE(false, true);
  options.schedule = penalty ? "constant" : "kl";
  options.kl_coefficient = penalty ? 1 : 0;
  options.entropy_end = 0;
  options.schedule_updates = 3;
  const doubles::TemporaryFolder folder;
  const auto first = Trainer(spec, options);
  PointerTask task(spec, {});
  const UnrollBatch batch = task.Play(*PolicyOf(*first, spec), 6);
  REQUIRE(first->Update(batch).ok());
  REQUIRE(first->Save(folder.path(), "a note").ok());
  REQUIRE(first->Update(batch).ok());

  const auto second = Trainer(spec, options);
  REQUIRE(second->Load(folder.path()).value() == "a note");
  REQUIRE(second->updates() == 1);
  const UpdateReport report = second->Update(batch).value();
  REQUIRE(second->Digest() == first->Digest());
  REQUIRE(report.entropy_coefficient == Approx(options.entropy * 2 / 3));
  REQUIRE((report.kl_coefficient != options.kl_coefficient) == penalty);
}

TEST_CASE("a penalty that stays, or that another run did not have, begins as the options say") {
  const model::PolicySpec spec = SmallSpec();
  AlgorithmOptions options;
  options.clip = 0;
  const doubles::TemporaryFolder folder;
  const auto first = Trainer(spec, options);
  PointerTask task(spec, {});
  const UnrollBatch batch = task.Play(*PolicyOf(*first, spec), 6);
  REQUIRE(first->Update(batch).ok());
  REQUIRE(first->Save(folder.path(), "").ok());
  options.kl_coefficient = 5;
  const auto second = Trainer(spec, options);
  REQUIRE(second->Load(folder.path()).ok());
  REQUIRE(second->Update(batch).value().kl_coefficient == 5);
  REQUIRE(second->Save(folder.path(), "").ok());
  options.kl_coefficient = 7;
  options.kl_target = 0;
  const auto third = Trainer(spec, options);
  REQUIRE(third->Load(folder.path()).ok());
  for (int update = 0; update < 3; ++update) {
    REQUIRE(third->Update(batch).value().kl_coefficient == 7);
  }
}

TEST_CASE("a penalty on the KL is refused where the algorithm has none") {
  const std::string name = GENERATE("grpo", "a2c", "dqn");
  AlgorithmOptions options;
  options.name = name;
  options.kl_coefficient = 1;
  model::PolicySpec spec = SmallSpec();
  spec.action_values = name == "dqn";
  collectives::SingleRank alone;
  const absl::Status refused = PolicyTrainer::Create(spec, options, kTrainerSeed, alone).status();
  REQUIRE(absl::IsInvalidArgument(refused));
  REQUIRE(runtime::Message(refused).starts_with("algorithm.kl_coefficient: "));
}

TEST_CASE("the penalty of PPO follows the KL of its updates, and holds the policy back") {
  const model::PolicySpec spec = SmallSpec();
  AlgorithmOptions options;
  options.clip = 0;
  options.dual_clip = 0;
  options.entropy = 0;
  options.update_epochs = 4;
  options.learning_rate = 1e-2;
  options.kl_target = 1e-3;
  const auto kl_after = [&](double coefficient) {
    options.kl_coefficient = coefficient;
    const auto trainer = Trainer(spec, options);
    PointerTask task(spec, {});
    const UnrollBatch batch = task.Play(*PolicyOf(*trainer, spec), 6);
    const UpdateReport first = trainer->Update(batch).value();
    REQUIRE(first.kl_coefficient == coefficient);
    const double next =
        estimators::AdaptiveKlCoefficient(coefficient, first.approximate_kl, options.kl_target);
    REQUIRE(trainer->Update(batch).value().kl_coefficient == (coefficient > 0 ? next : 0));
    return first.approximate_kl;
  };
  const double free = kl_after(0);
  REQUIRE(free > 1.5 * options.kl_target);
  REQUIRE(kl_after(1) < free);
  REQUIRE(kl_after(30) < free / 2);
}

TEST_CASE(
    "each optimiser goes on with the same bits from its own checkpoint, and from no other's") {
  const model::PolicySpec spec = SmallSpec();
  PointerTask task(spec, {});
  std::set<std::string> digests;
  for (const std::string_view name : training::OptimiserNames()) {
    AlgorithmOptions options;
    options.optimiser = name;
    options.momentum = 0.5;
    options.weight_decay = 0.1;
    const doubles::TemporaryFolder folder;
    const auto first = Trainer(spec, options);
    const UnrollBatch batch = task.Play(*PolicyOf(*first, spec), 6);
    REQUIRE(first->Update(batch).ok());
    REQUIRE(first->Save(folder.path(), "").ok());
    REQUIRE(first->Update(batch).ok());
    const auto second = Trainer(spec, options);
    REQUIRE(second->Load(folder.path()).ok());
    REQUIRE(second->Update(batch).ok());
    REQUIRE(second->Digest() == first->Digest());
    digests.insert(first->Digest());
    options.optimiser = name == "sgd" ? "lion" : "sgd";
    const absl::Status other = Trainer(spec, options)->Load(folder.path()).status();
    REQUIRE(absl::IsFailedPrecondition(other));
    REQUIRE(runtime::Message(other) == "checkpoint: of optimiser " + std::string(name) +
                                           ", algorithm.optimiser is " + options.optimiser);
  }
  REQUIRE(digests.size() == training::OptimiserNames().size());
}

TEST_CASE("loading falls back to the checkpoint before a damaged one, and refuses another spec") {
  const model::PolicySpec spec = SmallSpec();
  const doubles::TemporaryFolder folder;
  const auto trainer = Trainer(spec, {});
  PointerTask task(spec, {});
  REQUIRE(absl::IsNotFound(trainer->Load(folder.path()).status()));
  for (const char* note : {"older", "newer"}) {
    REQUIRE(trainer->Update(task.Play(*PolicyOf(*trainer, spec), 6)).ok());
    REQUIRE(trainer->Save(folder.path(), note).ok());
  }
  std::filesystem::resize_file(folder.path() + "/checkpoint-000000000002/optimiser.safetensors", 9);
  REQUIRE(trainer->Load(folder.path()).value() == "older");

  model::PolicySpec other = spec;
  other.hidden = {8};
  REQUIRE(absl::IsFailedPrecondition(Trainer(other, {})->Load(folder.path()).status()));
}

TEST_CASE("epochs end once the policy has moved far enough") {
  const model::PolicySpec spec = SmallSpec();
  AlgorithmOptions options;
  options.update_epochs = 50;
  options.learning_rate = 0.05;
  options.kl_stop = 0.01;
  const auto trainer = Trainer(spec, options);
  PointerTask task(spec, {});
  const auto report = trainer->Update(task.Play(*PolicyOf(*trainer, spec), 12)).value();
  REQUIRE(report.update_epochs < 50);
  REQUIRE(report.approximate_kl > 0.01);
}

TEST_CASE("a batch that does not fit is refused before anything changes") {
  const model::PolicySpec spec = SmallSpec();
  const auto trainer = Trainer(spec, {});
  PointerTask task(spec, {});
  const UnrollBatch good = task.Play(*PolicyOf(*trainer, spec), 6);
  const std::string digest = trainer->Digest();
  const auto refused = [&](auto change) {
    UnrollBatch bad = good;
    change(bad);
    return absl::IsInvalidArgument(trainer->Update(bad).status());
  };
  REQUIRE(refused([](UnrollBatch& b) { b.reward.pop_back(); }));
  REQUIRE(refused([](UnrollBatch& b) { b.value[3] = std::numeric_limits<float>::quiet_NaN(); }));
  REQUIRE(refused([](UnrollBatch& b) { b.action[0] = 1000; }));
  REQUIRE(refused([](UnrollBatch& b) { b.content_index[0] = 1 << 30; }));
  REQUIRE(refused([](UnrollBatch& b) { b.catalog[0] = 9; }));
  REQUIRE(refused([](UnrollBatch& b) { b.lengths.assign(8, 7); }));
  REQUIRE(refused([](UnrollBatch& b) { b.tables[0] = nullptr; }));
  REQUIRE(refused([](UnrollBatch& b) { b.length = -1; }));
  REQUIRE(trainer->Digest() == digest);
  REQUIRE(trainer->Update(good).ok());
}

TEST_CASE("a loss that is not finite leaves the parameters as they were") {
  const model::PolicySpec spec = SmallSpec();
  const auto trainer = Trainer(spec, {});
  PointerTask task(spec, {});
  UnrollBatch batch = task.Play(*PolicyOf(*trainer, spec), 6);
  const std::string digest = trainer->Digest();
  for (float& reward : batch.reward) reward = std::numeric_limits<float>::max();
  REQUIRE_FALSE(trainer->Update(batch).ok());
  REQUIRE(trainer->Digest() == digest);
  REQUIRE(trainer->updates() == 0);
}

TEST_CASE("an update that its judge refuses leaves everything as it was") {
  const model::PolicySpec spec = SmallSpec();
  AlgorithmOptions options;
  options.normalise_returns = true;
  const auto trainer = Trainer(spec, options);
  const auto other = Trainer(spec, options);
  PointerTask task(spec, {});
  const UnrollBatch batch = task.Play(*PolicyOf(*trainer, spec), 6);
  REQUIRE(trainer->Update(batch).ok());
  REQUIRE(other->Update(batch).ok());
  trainer->SetJudge([](const UpdateReport& report) {
    return report.rows > 0 ? collectives::SharedFailure("no") : absl::OkStatus();
  });
  UnrollBatch larger = task.Play(*PolicyOf(*trainer, spec), 6);
  for (float& reward : larger.reward) reward += 100;
  REQUIRE(collectives::IsShared(trainer->Update(larger).status()));
  REQUIRE(trainer->updates() == 1);
  trainer->SetJudge({});
  const auto report = trainer->Update(batch);
  const auto expected = other->Update(batch);
  REQUIRE(report.ok());
  REQUIRE(expected.ok());
  REQUIRE(report->return_deviation == expected->return_deviation);
  REQUIRE(trainer->Digest() == other->Digest());
}

TEST_CASE("three updates at a thousand times the learning rate are survived with a judge alone") {
  const bool judged = GENERATE(true, false);
  const model::PolicySpec spec = SmallSpec();
  AlgorithmOptions options;
  options.learning_rate = 1e-2;
  options.update_epochs = 4;
  const auto trainer = Trainer(spec, options);
  if (judged) {
    trainer->SetJudge([](const UpdateReport& report) {
      return report.approximate_kl > 5 ? collectives::SharedFailure("KL") : absl::OkStatus();
    });
  }
  PointerTask task(spec, {.columns = 32});
  int undone = 0;
  for (int update = 0; update < 28; ++update) {
    trainer->ScaleRate(update >= 15 && update < 18 ? 1000 : 1);
    if (!trainer->Update(task.Play(*PolicyOf(*trainer, spec), 12)).ok()) ++undone;
  }
  task.TakeSuccess();
  task.Play(*PolicyOf(*trainer, spec), 12);
  REQUIRE((task.TakeSuccess() > 0.8) == judged);
  REQUIRE(undone == (judged ? 3 : 0));
}

TEST_CASE("a batch without columns moves nothing") {
  const model::PolicySpec spec = SmallSpec();
  const auto trainer = Trainer(spec, {});
  const std::string digest = trainer->Digest();
  UnrollBatch empty;
  empty.length = 4;
  const auto report = trainer->Update(empty);
  REQUIRE(report.ok());
  REQUIRE(report->rows == 0);
  REQUIRE(trainer->Digest() == digest);
}

TEST_CASE("the report says how stale the rows were") {
  const model::PolicySpec spec = SmallSpec();
  const auto trainer = Trainer(spec, OneStep());
  PointerTask task(spec, {});
  const auto report = trainer->Update(task.Play(*PolicyOf(*trainer, spec), 6)).value();
  REQUIRE(report.mean_staleness > 0.3);
  REQUIRE(report.max_staleness == 1);
  REQUIRE(report.update == 1);
}

}  // namespace
}  // namespace shoal::algorithms
