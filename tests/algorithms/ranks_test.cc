// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <cmath>
#include <thread>
#include <vector>

#include "algorithms/policy_trainer.h"
#include "collectives/socket.h"
#include "collectives/socket_reducer.h"
#include "model/safetensors.h"
#include "tests/algorithms/pointer_task.h"

namespace shoal::algorithms {
namespace {

constexpr std::uint64_t kSeed = 3;

// Of rows [.., columns, width].
template <typename T>
void TakeColumns(std::vector<T>& values, std::size_t columns, std::size_t width, std::size_t begin,
                 std::size_t end) {
  std::vector<T> kept;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t column = i / width % columns;
    if (column >= begin && column < end) kept.push_back(values[i]);
  }
  values = std::move(kept);
}

UnrollBatch Columns(const UnrollBatch& batch, const model::PolicySpec& spec, std::size_t begin,
                    std::size_t end) {
  UnrollBatch part = batch;
  const auto columns = static_cast<std::size_t>(batch.columns);
  part.columns = static_cast<std::int64_t>(end - begin);
  TakeColumns(part.observation, columns, static_cast<std::size_t>(spec.observation_size), begin,
              end);
  TakeColumns(part.content_index, columns, spec.content_fields.size(), begin, end);
  TakeColumns(part.past_requests, columns, static_cast<std::size_t>(spec.embedding_size), begin,
              end);
  TakeColumns(part.catalog, columns, 1, begin, end);
  TakeColumns(part.action, columns, 1, begin, end);
  TakeColumns(part.behaviour_log_probability, columns, 1, begin, end);
  TakeColumns(part.reward, columns, 1, begin, end);
  TakeColumns(part.value, columns, 1, begin, end);
  TakeColumns(part.flags, columns, 1, begin, end);
  TakeColumns(part.weight, columns, 1, begin, end);
  TakeColumns(part.staleness, columns, 1, begin, end);
  return part;
}

AlgorithmOptions Options() {
  AlgorithmOptions options;
  options.minibatches = 1;
  options.passes = 3;
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

Outcome Train(const model::PolicySpec& spec, const UnrollBatch& batch,
              collectives::GradientReducer& reducer) {
  const auto trainer = PolicyTrainer::Create(spec, Options(), kSeed, reducer).value();
  const auto report = trainer->Update(batch);
  if (!report.ok()) return {};
  return {trainer->Digest(), trainer->SerializeParameters({}).value(), report->rows};
}

double LargestDifference(const std::string& a, const std::string& b) {
  const auto left = model::SafetensorsView::Parse(a).value();
  const auto right = model::SafetensorsView::Parse(b).value();
  double largest = 0;
  for (const auto& entry : left.entries()) {
    const auto x = left.Floats(entry.name, entry.shape).value();
    const auto y = right.Floats(entry.name, entry.shape).value();
    for (std::size_t i = 0; i < x.size(); ++i) {
      largest = std::max(largest, std::abs(static_cast<double>(x[i]) - y[i]));
    }
  }
  return largest;
}

std::vector<Outcome> TrainInRanks(const model::PolicySpec& spec,
                                  const std::vector<UnrollBatch>& batches) {
  collectives::RankEnvironment environment;
  environment.world_size = static_cast<std::int64_t>(batches.size());
  environment.master_listener = collectives::Listen("127.0.0.1", environment.master_port).value();
  std::vector<Outcome> outcomes(batches.size());
  std::vector<std::thread> ranks;
  for (std::size_t rank = 0; rank < batches.size(); ++rank) {
    ranks.emplace_back([&, rank] {
      collectives::RankEnvironment own = environment;
      own.rank = static_cast<std::int64_t>(rank);
      if (rank != 0) own.master_listener = -1;
      auto reducer = collectives::SocketReducer::Create(own, {});
      if (reducer.ok()) outcomes[rank] = Train(spec, batches[rank], **reducer);
    });
  }
  for (std::thread& rank : ranks) rank.join();
  return outcomes;
}

TEST_CASE("two ranks end with the same bits, and with what one rank makes of both batches") {
  const model::PolicySpec spec = SmallSpec();
  const UnrollBatch batch = SomeBatch(spec);
  const auto outcomes =
      TrainInRanks(spec, {Columns(batch, spec, 0, 3), Columns(batch, spec, 3, 8)});
  collectives::SingleRank alone;
  const Outcome joined = Train(spec, batch, alone);
  REQUIRE(!outcomes[0].digest.empty());
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
  REQUIRE(outcomes[0].digest == Train(spec, batch, alone).digest);
}

}  // namespace
}  // namespace shoal::algorithms
