// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <vector>

#include "rl/algorithms/policy_trainer.h"
#include "tests/rl/algorithms/pointer_task.h"
#include "tests/rl/algorithms/ranks.h"

namespace shoal::algorithms {
namespace {

constexpr std::uint64_t kSeed = 3;

AlgorithmOptions Options() {
  AlgorithmOptions options;
  options.minibatches = 1;
  options.update_epochs = 3;
  return options;
}

UnrollBatch SomeBatch(const model::PolicySpec& spec) {
  PointerTask task(spec, {});
  const std::string bytes = model::InitialParameters(spec, kSeed).value();
  return task.Play(*model::Policy::FromSafetensors(spec, bytes, nullptr).value(), 9);
}

struct Outcome {
  std::string digest;
  std::string parameters;
  double rows = 0;
};

absl::StatusOr<Outcome> Train(const model::PolicySpec& spec, const UnrollBatch& batch,
                              collectives::GradientReducer& reducer) {
  SHOAL_ASSIGN_OR_RETURN(const auto trainer,
                         PolicyTrainer::Create(spec, Options(), kSeed, reducer));
  SHOAL_ASSIGN_OR_RETURN(const UpdateReport report, trainer->Update(batch));
  SHOAL_ASSIGN_OR_RETURN(std::string parameters, trainer->SerializeParameters({}));
  return Outcome{trainer->Digest(), std::move(parameters), report.rows};
}

std::vector<Outcome> TrainInRanks(const model::PolicySpec& spec,
                                  const std::vector<UnrollBatch>& batches) {
  std::vector<Outcome> outcomes(batches.size());
  RunRanks(batches.size(), [&](std::size_t rank, collectives::GradientReducer& reducer) {
    SHOAL_ASSIGN_OR_RETURN(outcomes[rank], Train(spec, batches[rank], reducer));
    return absl::OkStatus();
  });
  return outcomes;
}

TEST_CASE("two ranks end with the same bits, and with what one rank makes of both batches") {
  const model::PolicySpec spec = SmallSpec();
  const UnrollBatch batch = SomeBatch(spec);
  const auto outcomes =
      TrainInRanks(spec, {Columns(batch, spec, 0, 3), Columns(batch, spec, 3, 8)});
  collectives::SingleRank alone;
  const Outcome joined = Train(spec, batch, alone).value();
  REQUIRE(outcomes[0].digest == outcomes[1].digest);
  REQUIRE(outcomes[0].rows == joined.rows);
  REQUIRE(LargestDifference(outcomes[0].parameters, joined.parameters) < 1e-6);
}

TEST_CASE("a rank without data takes part and ends with the same bits") {
  const model::PolicySpec spec = SmallSpec();
  const UnrollBatch batch = SomeBatch(spec);
  UnrollBatch empty;
  empty.length = batch.length;
  const auto outcomes = TrainInRanks(spec, {batch, empty});
  collectives::SingleRank alone;
  REQUIRE(outcomes[0].digest == outcomes[1].digest);
  REQUIRE(outcomes[0].digest == Train(spec, batch, alone)->digest);
}

}  // namespace
}  // namespace shoal::algorithms
