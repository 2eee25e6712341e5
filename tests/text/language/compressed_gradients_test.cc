// SPDX-License-Identifier: Apache-2.0
// Language models whose ranks send each other gradients in bfloat16.
#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "rl/training/checkpoint.h"
#include "tests/doubles/ranks.h"
#include "tests/text/language/small_batches.h"
#include "tests/text/language/small_gpt2.h"
#include "text/language/gpt2_layout.h"
#include "text/language/language_trainer.h"
#include "text/language/trainer_memory.h"

namespace shoal::language {
namespace {

constexpr std::uint64_t kSteps = 10;

TrainerOptions Compressing(bool compresses, training::ZeroStage stage) {
  return {.max_gradient_norm = 0.5, .zero_stage = stage, .compress_gradients = compresses};
}

absl::Status TrainFrom(LanguageTrainer& trainer, std::uint64_t first, std::size_t rank,
                       std::size_t ranks, std::vector<double>& losses) {
  for (std::uint64_t step = first; step < kSteps; ++step) {
    SHOAL_ASSIGN_OR_RETURN(const StepReport report,
                           trainer.Step(Share(Batch(step), rank, ranks), 1e-3));
    losses.push_back(report.loss.loss);
  }
  return absl::OkStatus();
}

// What all ranks of a group around a ring ended with.
struct Trained {
  std::vector<double> losses;
  std::vector<float> parameters;
  std::int64_t residual_bytes = 0;
};

Trained TrainRanks(std::size_t ranks, const TrainerOptions& options) {
  std::vector<Trained> trained(ranks);
  const auto ends = doubles::TryRanks(
      ranks,
      [&](std::size_t rank, collectives::GradientReducer& reducer) -> absl::Status {
        SHOAL_ASSIGN_OR_RETURN(const auto trainer,
                               LanguageTrainer::Create(SmallGpt2(), options, reducer));
        Trained& own = trained[rank];
        SHOAL_RETURN_IF_ERROR(TrainFrom(*trainer, 0, rank, ranks, own.losses));
        own.parameters = trainer->Parameters().value().flat;
        own.residual_bytes = trainer->residual_bytes();
        return absl::OkStatus();
      },
      doubles::PatientGroup(1));
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    INFO("rank " << rank << ": " << ends[rank]);
    REQUIRE(ends[rank].ok());
    REQUIRE(trained[rank].losses == trained[0].losses);
    REQUIRE(trained[rank].parameters == trained[0].parameters);
  }
  return trained[0];
}

TEST_CASE("ranks that compress gradients of a language model learn as ranks that do not") {
  const Gpt2Config config = SmallGpt2().config;
  const std::int64_t total = Gpt2Layout(config).total;
  for (const std::size_t ranks : {2U, 3U}) {
    const Trained plain = TrainRanks(ranks, Compressing(false, training::ZeroStage::kNone));
    const Trained whole = TrainRanks(ranks, Compressing(true, training::ZeroStage::kNone));
    const Trained divided = TrainRanks(ranks, Compressing(true, training::ZeroStage::kOptimiser));
    REQUIRE(whole.parameters != plain.parameters);
    REQUIRE(divided.parameters == whole.parameters);
    for (std::uint64_t step = 0; step < kSteps; ++step) {
      REQUIRE(whole.losses[step] == Approx(plain.losses[step]).epsilon(1e-3));
    }
    REQUIRE(plain.residual_bytes == 0);
    REQUIRE(whole.residual_bytes == 4 * total);
    const TrainerMemory planned =
        EstimateTrainerMemory(config, Compressing(true, training::ZeroStage::kNone),
                              {.ranks = static_cast<std::int64_t>(ranks)});
    REQUIRE(planned.residual_bytes > whole.residual_bytes);
    REQUIRE(planned.residual_bytes <= whole.residual_bytes + 2 * total);
  }
}

TEST_CASE(
    "a run with compressed gradients goes on from a checkpoint with the bits of one that saved "
    "it") {
  training::Checkpoint checkpoint;
  std::vector<std::vector<float>> ended;
  for (const bool resumes : {false, true}) {
    std::vector<std::vector<float>> parameters(2);
    const auto ends = doubles::TryRanks(
        2,
        [&](std::size_t rank, collectives::GradientReducer& reducer) -> absl::Status {
          SHOAL_ASSIGN_OR_RETURN(
              const auto trainer,
              LanguageTrainer::Create(SmallGpt2(), Compressing(true, training::ZeroStage::kNone),
                                      reducer));
          std::vector<double> losses;
          if (resumes) {
            SHOAL_RETURN_IF_ERROR(trainer->Restore(checkpoint));
          } else {
            SHOAL_RETURN_IF_ERROR(TrainFrom(*trainer, kSteps - 4, rank, 2, losses));
            training::Checkpoint files;
            SHOAL_RETURN_IF_ERROR(trainer->Save(files));
            if (rank == 0) checkpoint = files;
          }
          SHOAL_RETURN_IF_ERROR(TrainFrom(*trainer, kSteps - 4, rank, 2, losses));
          parameters[rank] = trainer->Parameters().value().flat;
          return absl::OkStatus();
        },
        doubles::PatientGroup(1));
    for (const absl::Status& end : ends) {
      INFO(end);
      REQUIRE(end.ok());
    }
    ended.push_back(parameters[0]);
  }
  REQUIRE(ended[0] == ended[1]);
}

TEST_CASE("stages of ZeRO that divide gradients are not compressed") {
  collectives::SingleRank alone;
  for (const auto stage : {training::ZeroStage::kGradients, training::ZeroStage::kParameters}) {
    const absl::Status refused =
        LanguageTrainer::Create(SmallGpt2(), Compressing(true, stage), alone).status();
    INFO(refused);
    REQUIRE(absl::IsInvalidArgument(refused));
    REQUIRE(doubles::Mentions(refused, "ZeRO stages 2 and 3"));
  }
}

}  // namespace
}  // namespace shoal::language
