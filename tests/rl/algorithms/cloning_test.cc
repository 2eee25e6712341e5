// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "rl/algorithms/policy_trainer.h"
#include "tests/doubles/temporary_folder.h"
#include "tests/rl/algorithms/pointer_task.h"
#include "tests/rl/algorithms/ranks.h"
#include "tests/rl/algorithms/trainers.h"

namespace shoal::algorithms {
namespace {

constexpr double kRate = 1e-2;

UnrollBatch Demonstrations(const model::PolicySpec& spec, std::int64_t columns = 32) {
  PointerTask expert(spec, {.columns = columns, .seed = 3, .expert = true});
  return expert.Play(*PolicyOf(*Trainer(spec), spec), 9);
}

// Returns the success of the current policy by its own choices, in episodes that were not
// demonstrated.
double SuccessOf(const PolicyTrainer& trainer, const model::PolicySpec& spec) {
  PointerTask task(spec, {.columns = 32, .seed = 3});
  task.Play(*PolicyOf(trainer, spec), 18);
  task.TakeSuccess();
  task.Play(*PolicyOf(trainer, spec), 12);
  return task.TakeSuccess();
}

}  // namespace

TEST_CASE("cloning makes the policy do what was demonstrated, without any reward") {
  const std::string core = GENERATE("none", "gru", "lstm");
  model::PolicySpec spec = SmallSpec();
  spec.core = core;
  const auto trainer = Trainer(spec);
  const UnrollBatch demonstrations = Demonstrations(spec);
  REQUIRE(SuccessOf(*trainer, spec) < 0.35);
  double first = 0;
  CloningReport last;
  for (int i = 0; i < 150; ++i) {
    last = trainer->CloneBehaviour(demonstrations, kRate).value();
    if (i == 0) first = last.loss;
  }
  REQUIRE(first > 1);
  REQUIRE(last.loss < first / 5);
  REQUIRE(last.agreement > 0.9);
  REQUIRE(last.cloning == 150);
  REQUIRE(trainer->updates() == 0);
  REQUIRE(SuccessOf(*trainer, spec) > 0.75);
}

TEST_CASE("cloning teaches the critic what the expert earns") {
  const model::PolicySpec spec = SmallSpec();
  const auto trainer = Trainer(spec);
  const UnrollBatch demonstrations = Demonstrations(spec);
  // The mean distance of the values that the trainer's policy gives from the returns of the expert.
  const auto error = [&] {
    PointerTask expert(spec, {.columns = 32, .seed = 3, .expert = true});
    const UnrollBatch batch = expert.Play(*PolicyOf(*trainer, spec), 9);
    const Targets targets = GeneralisedTargets(batch, BehaviourView(batch), {.lambda = 1});
    double sum = 0;
    double rows = 0;
    // Every third column is truncated, and its targets depend on the values themselves.
    for (std::size_t row = 0; row < targets.advantage.size(); ++row) {
      if (row % 32 % 3 == 0) continue;
      sum += std::abs(double{targets.advantage[row]});
      rows += 1;
    }
    return sum / rows;
  };
  const double before = error();
  for (int i = 0; i < 150; ++i) REQUIRE(trainer->CloneBehaviour(demonstrations, kRate).ok());
  REQUIRE(before > 0.8);
  REQUIRE(error() < 0.2);
}

TEST_CASE("the first loss is that of the probabilities that the policy gave the expert's actions") {
  const model::PolicySpec spec = SmallSpec();
  const auto trainer = Trainer(spec);
  const UnrollBatch demonstrations = Demonstrations(spec);
  double sum = 0;
  double rows = 0;
  for (std::size_t row = 0; row < demonstrations.weight.size(); ++row) {
    if (demonstrations.weight[row] == 0) continue;
    sum -= static_cast<double>(demonstrations.behaviour_log_probability[row]);
    rows += 1;
  }
  const CloningReport report = trainer->CloneBehaviour(demonstrations, kRate).value();
  REQUIRE(report.rows == rows);
  REQUIRE(report.loss == Approx(sum / rows).epsilon(1e-4));
}

TEST_CASE("two ranks clone to the same bits, and to what one makes of both shares") {
  const model::PolicySpec spec = SmallSpec();
  const UnrollBatch all = Demonstrations(spec, 8);
  const std::vector<UnrollBatch> shares = {Columns(all, spec, 0, 3), Columns(all, spec, 3, 8)};
  std::vector<std::string> digests(2);
  std::vector<std::string> parameters(2);
  std::vector<double> rows(2);
  RunRanks(2, [&](std::size_t rank, collectives::GradientReducer& reducer) {
    const auto trainer = PolicyTrainer::Create(spec, {}, kTrainerSeed, reducer).value();
    for (int i = 0; i < 5; ++i) {
      SHOAL_ASSIGN_OR_RETURN(const auto report, trainer->CloneBehaviour(shares[rank], 1e-3));
      rows[rank] = report.rows;
    }
    digests[rank] = trainer->Digest();
    parameters[rank] = trainer->SerializeParameters({}).value();
    return absl::OkStatus();
  });
  const auto alone = Trainer(spec);
  for (int i = 0; i < 5; ++i) REQUIRE(alone->CloneBehaviour(all, 1e-3)->rows == rows[0]);
  REQUIRE(digests[0] == digests[1]);
  REQUIRE(rows[0] == rows[1]);
  REQUIRE(LargestDifference(parameters[0], alone->SerializeParameters({}).value()) < 1e-4);
}

TEST_CASE("a rank without demonstrations takes part and ends with the same bits") {
  const model::PolicySpec spec = SmallSpec();
  const UnrollBatch all = Demonstrations(spec, 8);
  UnrollBatch none;
  none.length = all.length;
  std::vector<std::string> digests(2);
  RunRanks(2, [&](std::size_t rank, collectives::GradientReducer& reducer) {
    const auto trainer = PolicyTrainer::Create(spec, {}, kTrainerSeed, reducer).value();
    SHOAL_RETURN_IF_ERROR(trainer->CloneBehaviour(rank == 0 ? all : none, kRate).status());
    digests[rank] = trainer->Digest();
    return absl::OkStatus();
  });
  const auto alone = Trainer(spec);
  REQUIRE(alone->CloneBehaviour(all, kRate).ok());
  REQUIRE(digests[0] == alone->Digest());
  REQUIRE(digests[1] == alone->Digest());
}

TEST_CASE("a trainer that loaded a checkpoint goes on cloning with the same bits") {
  const model::PolicySpec spec = SmallSpec();
  const doubles::TemporaryFolder folder;
  const UnrollBatch demonstrations = Demonstrations(spec);
  const auto first = Trainer(spec);
  for (int i = 0; i < 3; ++i) REQUIRE(first->CloneBehaviour(demonstrations, kRate).ok());
  REQUIRE(first->Save(folder.path(), "note").ok());
  for (int i = 0; i < 2; ++i) REQUIRE(first->CloneBehaviour(demonstrations, kRate).ok());

  const auto second = Trainer(spec);
  REQUIRE(second->Load(folder.path()).ok());
  REQUIRE(second->clonings() == 3);
  for (int i = 0; i < 2; ++i) REQUIRE(second->CloneBehaviour(demonstrations, kRate).ok());
  REQUIRE(second->Digest() == first->Digest());
}

TEST_CASE("mixed into updates, demonstrations pull the policy towards the expert") {
  const model::PolicySpec spec = SmallSpec();
  AlgorithmOptions options;
  options.learning_rate = 1e-2;
  const auto plain = Trainer(spec, options);
  const auto mixed = Trainer(spec, options);
  const UnrollBatch demonstrations = Demonstrations(spec);
  PointerTask task(spec, {.columns = 8});
  const UnrollBatch batch = task.Play(*PolicyOf(*plain, spec), 9);
  const auto before = mixed->Update(batch, {.demonstrations = demonstrations, .coefficient = 5});
  REQUIRE(before.ok());
  REQUIRE(before->cloning_loss > 1);
  REQUIRE(before->cloning_coefficient == 5);
  REQUIRE(plain->Update(batch)->cloning_loss == 0);
  REQUIRE(plain->Digest() != mixed->Digest());
  for (int i = 0; i < 30; ++i) {
    REQUIRE(mixed->Update(batch, {.demonstrations = demonstrations, .coefficient = 5}).ok());
    REQUIRE(plain->Update(batch).ok());
  }
  REQUIRE(SuccessOf(*mixed, spec) > SuccessOf(*plain, spec) + 0.2);
}

TEST_CASE("a coefficient of 0 leaves an update as it is without demonstrations") {
  const model::PolicySpec spec = SmallSpec();
  const auto plain = Trainer(spec);
  const auto mixed = Trainer(spec);
  PointerTask task(spec, {});
  const UnrollBatch batch = task.Play(*PolicyOf(*plain, spec), 9);
  REQUIRE(plain->Update(batch).ok());
  REQUIRE(mixed->Update(batch, {.demonstrations = Demonstrations(spec), .coefficient = 0}).ok());
  REQUIRE(plain->Digest() == mixed->Digest());
}

TEST_CASE("demonstrations that do not fit are refused before anything changes") {
  const model::PolicySpec spec = SmallSpec();
  const auto trainer = Trainer(spec);
  const std::string digest = trainer->Digest();
  UnrollBatch bad = Demonstrations(spec);
  bad.action[0] = 1000;
  REQUIRE(absl::IsInvalidArgument(trainer->CloneBehaviour(bad, kRate).status()));
  PointerTask task(spec, {});
  const UnrollBatch batch = task.Play(*PolicyOf(*trainer, spec), 6);
  const auto update = trainer->Update(batch, {.demonstrations = bad, .coefficient = 1});
  REQUIRE(absl::IsInvalidArgument(update.status()));
  REQUIRE(trainer->Digest() == digest);
  REQUIRE(trainer->clonings() == 0);
}

}  // namespace shoal::algorithms
