// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "rl/algorithms/policy_trainer.h"
#include "tests/rl/algorithms/pointer_task.h"
#include "tests/rl/algorithms/ranks.h"

namespace shoal::algorithms {
namespace {

constexpr std::uint64_t kSeed = 3;

AlgorithmOptions Options(std::int64_t accumulation_steps = 1) {
  AlgorithmOptions options;
  options.minibatches = 1;
  options.update_epochs = 3;
  options.accumulation_steps = accumulation_steps;
  return options;
}

std::vector<UnrollBatch> SomeBatches(const model::PolicySpec& spec, std::size_t count) {
  PointerTask task(spec, {});
  const std::string bytes = model::InitialParameters(spec, kSeed).value();
  const auto policy = model::Policy::FromSafetensors(spec, bytes, nullptr).value();
  std::vector<UnrollBatch> batches;
  while (batches.size() < count) batches.push_back(task.Play(*policy, 9));
  return batches;
}

// What an update leaves.
struct Outcome {
  std::string digest;
  std::string parameters;
  double rows = 0;
  double policy_loss = 0;
  double value_loss = 0;
};

// Makes an update of each batch.
absl::StatusOr<std::vector<Outcome>> Train(const model::PolicySpec& spec,
                                           const std::vector<UnrollBatch>& batches,
                                           collectives::GradientReducer& reducer,
                                           const AlgorithmOptions& options = Options()) {
  SHOAL_ASSIGN_OR_RETURN(const auto trainer, PolicyTrainer::Create(spec, options, kSeed, reducer));
  std::vector<Outcome> outcomes;
  for (const UnrollBatch& batch : batches) {
    SHOAL_ASSIGN_OR_RETURN(const UpdateReport report, trainer->Update(batch));
    SHOAL_ASSIGN_OR_RETURN(std::string parameters, trainer->SerializeParameters({}));
    outcomes.push_back({trainer->Digest(), std::move(parameters), report.rows, report.policy_loss,
                        report.value_loss});
  }
  return outcomes;
}

// Trains as ranks with the batches of each, and returns the outcomes by rank and update.
std::vector<std::vector<Outcome>> TrainInRanks(const model::PolicySpec& spec,
                                               const std::vector<std::vector<UnrollBatch>>& batches,
                                               const AlgorithmOptions& options = Options()) {
  std::vector<std::vector<Outcome>> outcomes(batches.size());
  RunRanks(batches.size(), [&](std::size_t rank, collectives::GradientReducer& reducer) {
    SHOAL_ASSIGN_OR_RETURN(outcomes[rank], Train(spec, batches[rank], reducer, options));
    return absl::OkStatus();
  });
  return outcomes;
}

TEST_CASE(
    "1, 2 and 4 ranks with unequal shares have the same bits at every update, and the losses "
    "of one") {
  constexpr std::size_t kUpdates = 10;
  const model::PolicySpec spec = SmallSpec();
  const std::vector<UnrollBatch> batches = SomeBatches(spec, kUpdates);
  collectives::SingleRank single;
  const std::vector<Outcome> alone = Train(spec, batches, single).value();
  REQUIRE(alone.front().digest != alone.back().digest);
  // Where the columns of each rank end.
  for (const std::vector<std::size_t>& ends : {std::vector<std::size_t>{8}, {3, 8}, {1, 3, 7, 8}}) {
    std::vector<std::vector<UnrollBatch>> shares;
    std::size_t begin = 0;
    for (const std::size_t end : ends) {
      shares.emplace_back();
      for (const UnrollBatch& batch : batches) {
        shares.back().push_back(Columns(batch, spec, begin, end));
      }
      begin = end;
    }
    const auto ranks = TrainInRanks(spec, shares);
    for (std::size_t update = 0; update < kUpdates; ++update) {
      INFO(ends.size() << " ranks, update " << update + 1);
      const Outcome& first = ranks.front()[update];
      for (const auto& rank : ranks) REQUIRE(rank[update].digest == first.digest);
      REQUIRE(first.rows == alone[update].rows);
      REQUIRE(std::abs(first.policy_loss - alone[update].policy_loss) <= 1e-5);
      REQUIRE(std::abs(first.value_loss - alone[update].value_loss) <= 1e-5);
    }
    REQUIRE(LargestDifference(ranks.front().front().parameters, alone.front().parameters) < 1e-6);
    REQUIRE(LargestDifference(ranks.front().back().parameters, alone.back().parameters) < 1e-5);
  }
}

TEST_CASE("a rank without data takes part and ends with the same bits") {
  const model::PolicySpec spec = SmallSpec();
  const std::vector<UnrollBatch> batches = SomeBatches(spec, 1);
  UnrollBatch empty;
  empty.length = batches[0].length;
  const auto ranks = TrainInRanks(spec, {batches, {empty}});
  collectives::SingleRank alone;
  REQUIRE(ranks[0][0].digest == ranks[1][0].digest);
  REQUIRE(ranks[0][0].digest == Train(spec, batches, alone)->front().digest);
}

void RequireNear(const Outcome& found, const Outcome& expected) {
  REQUIRE(found.rows == expected.rows);
  REQUIRE(std::abs(found.policy_loss - expected.policy_loss) <= 1e-5);
  REQUIRE(std::abs(found.value_loss - expected.value_loss) <= 1e-5);
  REQUIRE(LargestDifference(found.parameters, expected.parameters) < 1e-5);
}

TEST_CASE("steps whose gradients are accumulated are those of undivided minibatches") {
  model::PolicySpec recurrent = SmallSpec();
  recurrent.core = "gru";
  recurrent.core_size = 6;
  for (const model::PolicySpec& spec : {SmallSpec(), recurrent}) {
    const std::vector<UnrollBatch> batches = SomeBatches(spec, 10);
    collectives::SingleRank single;
    const std::vector<Outcome> whole = Train(spec, batches, single).value();
    std::vector<std::vector<UnrollBatch>> halves(2);
    for (const UnrollBatch& batch : batches) {
      halves[0].push_back(Columns(batch, spec, 0, 4));
      halves[1].push_back(Columns(batch, spec, 4, 8));
    }
    // With more parts than rows some are empty.
    for (const std::int64_t parts : {1, 4, 1000}) {
      INFO("core " << spec.core << ", " << parts << " parts");
      const std::vector<Outcome> alone = Train(spec, batches, single, Options(2 * parts)).value();
      const auto ranks = TrainInRanks(spec, halves, Options(parts));
      REQUIRE(alone.back().digest != whole.back().digest);
      for (std::size_t update = 0; update < batches.size(); ++update) {
        RequireNear(alone[update], whole[update]);
        RequireNear(ranks[0][update], alone[update]);
        REQUIRE(ranks[1][update].digest == ranks[0][update].digest);
      }
    }
  }
}

}  // namespace
}  // namespace shoal::algorithms
