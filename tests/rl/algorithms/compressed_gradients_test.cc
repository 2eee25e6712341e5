// SPDX-License-Identifier: Apache-2.0
// Trainers whose ranks send each other gradients in bfloat16.
#include <catch2/catch.hpp>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "rl/algorithms/policy_trainer.h"
#include "tests/rl/algorithms/pointer_task.h"
#include "tests/rl/algorithms/ranks.h"
#include "tests/rl/algorithms/trainers.h"

namespace shoal::algorithms {
namespace {

// What each rank does with its trainer and its share of the columns.
using TrainerWork =
    std::function<absl::Status(std::size_t rank, PolicyTrainer& trainer, const UnrollBatch& share)>;

// Runs two ranks around a ring, and returns the digests of their parameters.
std::vector<std::string> RunPair(bool compresses, const model::PolicySpec& spec,
                                 const UnrollBatch& all, const TrainerWork& work) {
  const std::vector<UnrollBatch> shares = {Columns(all, spec, 0, 3), Columns(all, spec, 3, 8)};
  std::vector<std::string> digests(2);
  const auto ends = doubles::TryRanks(
      2,
      [&](std::size_t rank, collectives::GradientReducer& reducer) -> absl::Status {
        SHOAL_ASSIGN_OR_RETURN(const auto trainer,
                               PolicyTrainer::Create(spec, {}, kTrainerSeed, reducer));
        if (compresses) trainer->CompressGradients();
        SHOAL_RETURN_IF_ERROR(work(rank, *trainer, shares[rank]));
        digests[rank] = trainer->Digest();
        return absl::OkStatus();
      },
      doubles::PatientGroup(1));
  for (const absl::Status& end : ends) {
    INFO(end);
    REQUIRE(end.ok());
  }
  REQUIRE(digests[0] == digests[1]);
  return digests;
}

UnrollBatch Expert(const model::PolicySpec& spec) {
  PointerTask expert(spec, {.columns = 8, .seed = 3, .expert = true});
  return expert.Play(*PolicyOf(*Trainer(spec), spec), 9);
}

TEST_CASE("two ranks that compress their gradients learn as two that do not, to the same bits") {
  const model::PolicySpec spec = SmallSpec();
  const UnrollBatch all = Expert(spec);
  constexpr int kSteps = 60;
  std::vector<std::vector<double>> losses;
  std::vector<std::string> digests;
  for (const bool compresses : {false, true}) {
    std::vector<double> curve;
    digests.push_back(RunPair(
        compresses, spec, all,
        [&](std::size_t rank, PolicyTrainer& trainer, const UnrollBatch& share) -> absl::Status {
          for (int i = 0; i < kSteps; ++i) {
            SHOAL_ASSIGN_OR_RETURN(const CloningReport report, trainer.CloneBehaviour(share, 1e-2));
            if (rank == 0) curve.push_back(report.loss);
          }
          return absl::OkStatus();
        })[0]);
    losses.push_back(curve);
  }
  REQUIRE(digests[0] != digests[1]);
  // Sums over rows, of which the loss is made, are not rounded.
  REQUIRE(losses[1].front() == losses[0].front());
  REQUIRE(losses[0].back() < 0.5 * losses[0].front());
  REQUIRE(losses[1].back() == Approx(losses[0].back()).epsilon(0.02));
}

TEST_CASE("an update that is undone leaves nothing of what rounding took of its gradients") {
  const model::PolicySpec spec = SmallSpec();
  const UnrollBatch all = Expert(spec);
  std::vector<std::string> digests;
  for (const bool undoes : {false, true}) {
    digests.push_back(RunPair(
        true, spec, all,
        [&](std::size_t, PolicyTrainer& trainer, const UnrollBatch& share) -> absl::Status {
          if (undoes) {
            trainer.SetJudge([](const UpdateReport&) { return collectives::SharedFailure("no"); });
            if (trainer.Update(share).ok()) return runtime::Internal("was not undone");
            trainer.SetJudge({});
          }
          SHOAL_RETURN_IF_ERROR(trainer.Update(share).status());
          return trainer.Update(share).status();
        })[0]);
  }
  REQUIRE(digests[0] == digests[1]);
}

}  // namespace
}  // namespace shoal::algorithms
