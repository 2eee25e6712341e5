// SPDX-License-Identifier: Apache-2.0
// Trainers of two ranks whose updates the circuit breaker judges as it does in a learner, with its
// default limits.
#include <array>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "learner/circuit_breaker.h"
#include "rl/algorithms/policy_trainer.h"
#include "rl/collectives/gradient_reducer.h"
#include "tests/doubles/ranks.h"
#include "tests/rl/algorithms/pointer_task.h"
#include "tests/rl/algorithms/trainers.h"

namespace shoal::learner {
namespace {

using algorithms::PointerTask;
using algorithms::PolicyTrainer;
using algorithms::SmallSpec;
using algorithms::UpdateReport;

constexpr std::size_t kGroupSize = 2;
constexpr int kAttempts = 60;
constexpr int kFaultBegins = 30;
constexpr int kFaultEnds = 33;

// What a rank of a group does in the updates from kFaultBegins to kFaultEnds.
enum class Fault { kNoUpdate, kThousandfoldRate };

struct Outcome {
  std::string digest;
  double success = 0;
  int undone = 0;
};

absl::StatusOr<Outcome> Train(Fault fault, std::size_t rank, collectives::GradientReducer& group) {
  const model::PolicySpec spec = SmallSpec();
  algorithms::AlgorithmOptions options;
  options.learning_rate = 1e-2;
  options.update_epochs = 4;
  SHOAL_ASSIGN_OR_RETURN(const auto trainer,
                         PolicyTrainer::Create(spec, options, algorithms::kTrainerSeed, group));
  CircuitBreaker breaker{CircuitBreakerOptions()};
  trainer->SetJudge([&breaker](const UpdateReport& report) {
    const Verdict verdict = breaker.Judge({.gradient_norm = report.gradient_norm,
                                           .approximate_kl = report.approximate_kl,
                                           .entropy = report.entropy});
    return verdict.symptom ? collectives::SharedFailure(ToString(*verdict.symptom))
                           : absl::OkStatus();
  });
  PointerTask task(spec, {.columns = 32, .seed = 1 + rank});
  Outcome outcome;
  for (int update = 0; update < kAttempts; ++update) {
    const bool strikes = update >= kFaultBegins && update < kFaultEnds;
    algorithms::UnrollBatch batch = task.Play(*algorithms::PolicyOf(*trainer, spec), 12);
    if (strikes && fault == Fault::kNoUpdate) continue;
    trainer->ScaleRate(strikes ? 1000 : 1);
    const auto report = trainer->Update(std::move(batch));
    if (report.ok()) continue;
    if (!collectives::IsShared(report.status())) return report.status();
    ++outcome.undone;
  }
  task.TakeSuccess();
  task.Play(*algorithms::PolicyOf(*trainer, spec), 12);
  outcome.success = task.TakeSuccess();
  outcome.digest = trainer->Digest();
  return outcome;
}

std::vector<Outcome> TrainRanks(Fault fault) {
  std::vector<Outcome> outcomes(kGroupSize);
  doubles::RunRanks(kGroupSize, [&](std::size_t rank, collectives::GradientReducer& group) {
    auto outcome = Train(fault, rank, group);
    if (outcome.ok()) outcomes[rank] = *std::move(outcome);
    return outcome.status();
  });
  return outcomes;
}

}  // namespace

TEST_CASE(
    "three updates of two ranks at a thousand times the learning rate leave the same parameters as "
    "if they had not been made") {
  const std::vector<Outcome> expected = TrainRanks(Fault::kNoUpdate);
  const std::vector<Outcome> survived = TrainRanks(Fault::kThousandfoldRate);
  for (std::size_t rank = 0; rank < kGroupSize; ++rank) {
    REQUIRE(expected[rank].undone == 0);
    REQUIRE(survived[rank].undone == kFaultEnds - kFaultBegins);
    REQUIRE(survived[rank].digest == expected[0].digest);
    REQUIRE(survived[rank].success > 0.8);
  }
}

}  // namespace shoal::learner
