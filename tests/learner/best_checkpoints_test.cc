// SPDX-License-Identifier: Apache-2.0
// Learners that keep the checkpoints whose policies returned most.
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "learner/learner.h"
#include "learner/unrolls/episode_returns.h"
#include "rl/collectives/gradient_reducer.h"
#include "rl/parameters/evaluation_report.h"
#include "rl/training/checkpoint_folder.h"
#include "tests/doubles/full_disk.h"
#include "tests/doubles/ranks.h"
#include "tests/doubles/temporary_folder.h"
#include "tests/learner/small_learner.h"
#include "tests/replay/shard_server.h"

namespace shoal::learner {
namespace {

using training::MeanReturn;

std::map<std::int64_t, std::optional<MeanReturn>> SavedReturns(const LearnerSetup& setup) {
  std::vector<std::string> problems;
  std::map<std::int64_t, std::optional<MeanReturn>> returns;
  const training::CheckpointFolder folder(setup.run.path() + "/checkpoints");
  for (const auto& manifest : folder.Manifests(problems)) {
    returns[manifest.number] = manifest.mean_return;
  }
  REQUIRE(problems.empty());
  return returns;
}

// Tells a learner what twenty episodes of a version returned in the mean.
absl::Status Evaluate(const LearnerSetup& setup, const parameters::Version& version,
                      double mean_return) {
  return parameters::SendEvaluation(
      setup.learner.listen, "a test",
      {.version = version, .mean_return = mean_return, .episodes = 20}, std::chrono::seconds(30));
}

// A learner that hears evaluations, and saves checkpoints by the number of updates alone.
LearnerSetup Judged(const doubles::TemporaryFolder& folder, const replay::ShardServer& shard) {
  LearnerSetup setup = Setup(folder, shard.address());
  setup.learner.listen = "unix:" + folder.At("learner");
  setup.learner.checkpoint_every_seconds = 1e6;
  return setup;
}

TEST_CASE(
    "a checkpoint is saved as an evaluation is heard, the best stays, and a run starts from it") {
  const doubles::TemporaryFolder folder;
  replay::ShardServer shard({.name = "unrolls"});
  Fill(shard.shard(), 1);
  LearnerSetup setup = Judged(folder, shard);
  setup.learner.keep_checkpoints = 1;
  setup.learner.keep_best_checkpoints = 1;
  // None would be saved for the time or the number of updates.
  setup.learner.checkpoint_every_updates = 100;
  setup.learner.publish_every_updates = 5;
  setup.learner.updates = 6;
  // By the update in whose sum they are reported.
  const std::map<int, double> evaluations = {{2, 100}, {4, 50}};
  const absl::Status end = RunAlone(setup, [&](int sum) {
    const auto found = evaluations.find(sum);
    if (found == evaluations.end()) return;
    REQUIRE(Evaluate(setup, {1, 1}, found->second).ok());
  });
  INFO(end);
  REQUIRE(end.ok());
  REQUIRE(SavedReturns(setup) ==
          std::map<std::int64_t, std::optional<MeanReturn>>{
              {2, MeanReturn{.value = 100, .is_of_evaluation = true}}, {6, std::nullopt}});

  replay::ShardServer other_shard({.name = "unrolls"});
  Fill(other_shard.shard(), 1);
  LearnerSetup other = Setup(folder, other_shard.address());
  other.run.name = "other";
  other.learner.start_from = setup.run.path() + "/checkpoints/checkpoint-000000000002";
  other.learner.updates = 4;
  for (const absl::Status& ended : RunLearners(other, 0)) {
    INFO(ended);
    REQUIRE(ended.ok());
  }
  REQUIRE(Lines(other).front()["update"] == 3);
  other.run.name = "lost";
  other.learner.start_from = setup.run.path() + "/checkpoints/checkpoint-000000000003";
  const absl::Status lost = RunLearners(other, 0)[0];
  REQUIRE(absl::IsNotFound(lost));
  REQUIRE(runtime::Message(lost).find("no whole checkpoint 3 in ") != std::string::npos);
}

TEST_CASE("a run starts from a checkpoint named without a folder, and from a run named like one") {
  const doubles::TemporaryFolder folder;
  replay::ShardServer shard({.name = "unrolls"});
  Fill(shard.shard(), 1);
  LearnerSetup setup = Setup(folder, shard.address());
  setup.run.name = "checkpoint-3";
  setup.learner.updates = 2;
  REQUIRE(RunAlone(setup, {}).ok());
  const auto starts_from = [&](const std::string& start_from, const std::string& name) {
    replay::ShardServer other_shard({.name = "unrolls"});
    Fill(other_shard.shard(), 1);
    LearnerSetup other = Setup(folder, other_shard.address());
    other.run.name = name;
    other.learner.start_from = start_from;
    other.learner.updates = 3;
    SHOAL_RETURN_IF_ERROR(RunAlone(other, {}));
    return Lines(other).front()["update"] == 3 ? absl::OkStatus() : runtime::Internal(name);
  };
  const absl::Status by_run = starts_from(setup.run.path(), "a");
  INFO(by_run);
  REQUIRE(by_run.ok());
  const std::filesystem::path here = std::filesystem::current_path();
  std::filesystem::current_path(setup.run.path() + "/checkpoints");
  const absl::Status by_checkpoint = starts_from("checkpoint-000000000002", "b");
  std::filesystem::current_path(here);
  INFO(by_checkpoint);
  REQUIRE(by_checkpoint.ok());
}

TEST_CASE("no checkpoint has the return of an evaluation that was heard some updates before") {
  const doubles::TemporaryFolder folder;
  replay::ShardServer shard({.name = "unrolls"});
  Fill(shard.shard(), 1);
  LearnerSetup setup = Judged(folder, shard);
  setup.learner.checkpoint_every_updates = 3;
  setup.learner.updates = 6;
  const absl::Status end = RunAlone(setup, [&](int sum) {
    if (sum != 2 && sum != 6) return;
    REQUIRE(Evaluate(setup, {1, 1}, 100).ok());
  });
  INFO(end);
  REQUIRE(end.ok());
  REQUIRE(SavedReturns(setup) == std::map<std::int64_t, std::optional<MeanReturn>>{
                                     {0, std::nullopt},
                                     {3, std::nullopt},
                                     {6, MeanReturn{.value = 100, .is_of_evaluation = true}}});
}

// As if another rank were always still writing its part of a checkpoint.
class BesideSlowDisk final : public ThrowingReducer {
 public:
  using ThrowingReducer::ThrowingReducer;
  absl::Status AllReduceSum(std::span<float> values) override {
    return ThrowingReducer::AllReduceSum(values);
  }
  absl::Status AllReduceSum(std::span<double> values) override {
    // Of unrolls, of ranks that stop, and of those that write.
    if (values.size() == 3) values[2] += 1;
    return ThrowingReducer::AllReduceSum(values);
  }
};

TEST_CASE("an evaluation has no checkpoint saved while another one is still being written") {
  const doubles::TemporaryFolder folder;
  replay::ShardServer shard({.name = "unrolls"});
  Fill(shard.shard(), 1);
  LearnerSetup setup = Judged(folder, shard);
  setup.learner.keep_checkpoints = 10;
  setup.learner.keep_best_checkpoints = 1;
  setup.learner.checkpoint_every_updates = 3;
  setup.learner.updates = 6;
  const auto on_sum = [&](int sum) {
    if (sum != 5) return;
    REQUIRE(Evaluate(setup, {1, 4}, 100).ok());
  };
  collectives::SingleRank alone;
  const auto learner = Learner::Create(setup, std::make_unique<BesideSlowDisk>(alone, 0, on_sum));
  REQUIRE(learner.ok());
  REQUIRE((*learner)->Run().ok());
  const auto returns = SavedReturns(setup);
  REQUIRE(returns.contains(3));
  REQUIRE(returns.contains(6));
  REQUIRE_FALSE(returns.contains(5));
}

TEST_CASE("whether evaluations have checkpoints saved is what rank 0 says, on all ranks") {
  const bool first_keeps = GENERATE(false, true);
  const doubles::TemporaryFolder folder;
  replay::ShardServer shard({.name = "unrolls"});
  Fill(shard.shard(), 1);
  LearnerSetup setup = Judged(folder, shard);
  setup.learner.keep_checkpoints = 10;
  setup.learner.checkpoint_every_updates = 100;
  const auto ends =
      doubles::TryRanks(kRanks, [&](std::size_t rank, collectives::GradientReducer& group) {
        LearnerSetup own = setup;
        own.learner.keep_best_checkpoints = (rank == 0) == first_keeps ? 1 : 0;
        auto member = std::make_unique<ThrowingReducer>(group, 0, [&setup, rank](int sum) {
          if (rank != 0 || sum != 2) return;
          Evaluate(setup, {1, 1}, 100).IgnoreError();
        });
        SHOAL_ASSIGN_OR_RETURN(const auto learner, Learner::Create(own, std::move(member)));
        return learner->Run();
      });
  for (const absl::Status& end : ends) {
    INFO(end);
    REQUIRE(end.ok());
  }
  REQUIRE(SavedReturns(setup).contains(2) == first_keeps);
}

TEST_CASE("where the disk has no room as an evaluation is heard, no later checkpoint is given it") {
  const doubles::TemporaryFolder folder;
  replay::ShardServer shard({.name = "unrolls"});
  Fill(shard.shard(), 1);
  LearnerSetup setup = Judged(folder, shard);
  setup.learner.keep_checkpoints = 10;
  setup.learner.keep_best_checkpoints = 1;
  setup.learner.updates = 6;
  std::optional<doubles::FullDisk> full;
  const absl::Status end = RunAlone(setup, [&](int sum) {
    if (sum == 4) full.reset();
    if (sum != 2) return;
    AwaitCheckpoint(setup, 1);
    REQUIRE(Evaluate(setup, {1, 1}, 100).ok());
    full.emplace(setup.run.path() + "/checkpoints");
  });
  INFO(end);
  REQUIRE(end.ok());
  const auto returns = SavedReturns(setup);
  REQUIRE_FALSE(returns.contains(2));
  REQUIRE(returns.contains(6));
  for (const auto& [number, mean_return] : returns) REQUIRE_FALSE(mean_return);
}

TEST_CASE("the return of training is the mean over the last hundred episodes or a few more") {
  RecentReturns returns;
  returns.Add({.episodes = 99, .mean_return = 1});
  REQUIRE_FALSE(returns.Mean());
  returns.Add({.episodes = 1, .mean_return = 101});
  REQUIRE(*returns.Mean() == Approx(2));
  returns.Add({.episodes = 0, .mean_return = 0});
  REQUIRE(*returns.Mean() == Approx(2));
  // The first update leaves once there are a hundred without it.
  returns.Add({.episodes = 99, .mean_return = 3});
  REQUIRE(*returns.Mean() == Approx((101 + 99 * 3) / 100.0));
  returns.Clear();
  REQUIRE_FALSE(returns.Mean());
}

}  // namespace
}  // namespace shoal::learner
