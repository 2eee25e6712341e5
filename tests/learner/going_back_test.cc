// SPDX-License-Identifier: Apache-2.0
// Learners whose training goes astray.
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "learner/learner.h"
#include "learner/unrolls/quarantine.h"
#include "platform/runtime/atomic_file.h"
#include "rl/model/safetensors.h"
#include "rl/parameters/evaluation_report.h"
#include "rl/parameters/parameters_file.h"
#include "tests/doubles/temporary_folder.h"
#include "tests/learner/small_learner.h"
#include "tests/replay/shard_server.h"

namespace shoal::learner {
namespace {

// A learner of one rank with checkpoints of updates 0, 3 and 6, which judges evaluations.
LearnerSetup JudgedByEvaluations(const doubles::TemporaryFolder& folder,
                                 replay::ShardServer& shard) {
  Fill(shard.shard(), 1);
  Fill(shard.shard(), 2);
  LearnerSetup setup = Setup(folder, shard.address());
  setup.learner.listen = "unix:" + folder.At("learner");
  setup.learner.checkpoint_every_updates = 3;
  setup.learner.checkpoint_every_seconds = 1e6;
  setup.learner.updates = 8;
  setup.learner.breaker.evaluation_deviations = 3;
  setup.learner.breaker.evaluation_patience = 1;
  setup.learner.breaker.evaluation_window = 5;
  setup.learner.breaker.probation_updates = 1;
  return setup;
}

// Runs the learner, and in its n-th sum, which is in the n-th update, reports the evaluation.
void RunWithEvaluations(const LearnerSetup& setup,
                        const std::map<int, parameters::EvaluationReport>& reports) {
  const absl::Status end = RunAlone(setup, [&](int sum) {
    const auto report = reports.find(sum);
    if (report == reports.end()) return;
    REQUIRE(parameters::SendEvaluation(setup.learner.listen, "a test", report->second,
                                       std::chrono::seconds(30))
                .ok());
  });
  INFO(end);
  REQUIRE(end.ok());
}

// Returns the updates that the learner made, and 0 for each verdict of the breaker.
std::vector<int> UpdatesOf(const LearnerSetup& setup) {
  std::vector<int> updates;
  for (const nlohmann::json& line : Lines(setup)) {
    updates.push_back(line.contains("action") ? 0 : line["update"].get<int>());
  }
  return updates;
}

}  // namespace

TEST_CASE(
    "a rollback goes to the newest whole checkpoint, condemns what was published since, and goes "
    "on under a new epoch") {
  const bool damaged = GENERATE(false, true);
  const doubles::TemporaryFolder folder;
  replay::ShardServer shard({.name = "unrolls"});
  const LearnerSetup setup = GoingAstray(folder, shard);
  const std::string newest = setup.run.path() + "/checkpoints/checkpoint-000000000006";
  const absl::Status end = RunAlone(setup, [&](int sum) {
    if (sum != 8) return;
    AwaitCheckpoint(setup, 6);
    if (damaged) std::filesystem::remove(newest + "/counters.json");
  });
  INFO(end);
  REQUIRE(end.ok());
  REQUIRE(NewestCheckpoint(setup) == 8);

  // The version of a checkpoint has its number here.
  const std::uint64_t good = damaged ? 3 : 6;
  const auto quarantine = Quarantine::Read(setup.run.path() + "/quarantine").value();
  for (std::uint64_t step = 0; step < 10; ++step) {
    REQUIRE(quarantine.Contains({1, step}) == (step > good && step <= 7));
    REQUIRE_FALSE(quarantine.Contains({2, step}));
    REQUIRE(TakesUnrollOf(shard, step) == !quarantine.Contains({1, step}));
  }

  std::set<std::pair<int, int>> published;
  std::vector<int> updates;
  for (const nlohmann::json& line : Lines(setup)) {
    if (line.contains("action")) {
      REQUIRE(line["action"] == "roll_back");
      REQUIRE(line["undone_after_update"] == 7);
      updates.push_back(0);
    } else {
      REQUIRE(published.emplace(line["epoch"].get<int>(), line["step"].get<int>()).second);
      updates.push_back(line["update"].get<int>());
    }
  }
  std::vector<int> expected = {1, 2, 3, 4, 5, 6, 7, 0};
  for (int update = static_cast<int>(good) + 1; update <= 8; ++update) expected.push_back(update);
  REQUIRE(updates == expected);
}

TEST_CASE(
    "a bad evaluation leads back to the best checkpoint, and one of a condemned version to none") {
  const doubles::TemporaryFolder folder;
  replay::ShardServer shard({.name = "unrolls"});
  LearnerSetup setup = JudgedByEvaluations(folder, shard);
  setup.learner.keep_best_checkpoints = 2;
  const std::map<int, parameters::EvaluationReport> reports = {
      {2, {.version = {1, 1}, .mean_return = 100, .episodes = 20}},
      {4, {.version = {1, 3}, .mean_return = 90, .episodes = 20}},
      {7, {.version = {1, 6}, .mean_return = 90, .episodes = 20}},
      {8, {.version = {1, 7}, .mean_return = 10, .episodes = 20}},
      {9, {.version = {1, 7}, .mean_return = 10, .episodes = 20}}};
  // All but those of version 7 are good, and the checkpoint of update 2 has the best.
  RunWithEvaluations(setup, reports);
  for (const nlohmann::json& line : Lines(setup)) {
    if (!line.contains("action")) continue;
    REQUIRE(line["reason"] == "evaluation_return");
    REQUIRE(line["action"] == "roll_back");
  }
  REQUIRE(UpdatesOf(setup) == std::vector<int>{1, 2, 3, 4, 5, 6, 7, 0, 3, 4, 5, 6, 7, 8});
  const auto quarantine = Quarantine::Read(setup.run.path() + "/quarantine").value();
  REQUIRE_FALSE(quarantine.Contains({1, 2}));
  REQUIRE(quarantine.Contains({1, 3}));
}

TEST_CASE("a checkpoint that is later than the best evaluation does not pass for the best") {
  const bool keeps_best = GENERATE(false, true);
  const doubles::TemporaryFolder folder;
  replay::ShardServer shard({.name = "unrolls"});
  LearnerSetup setup = JudgedByEvaluations(folder, shard);
  setup.learner.breaker.evaluation_patience = 2;
  setup.learner.breaker.soften_updates = 0;
  setup.learner.keep_best_checkpoints = keeps_best ? 1 : 0;
  setup.learner.checkpoint_every_updates = 6;
  // The evaluation in update 5 is the only one that is good, and there is a checkpoint of update 6.
  RunWithEvaluations(setup, {{5, {.version = {1, 4}, .mean_return = 100, .episodes = 20}},
                             {7, {.version = {1, 6}, .mean_return = 10, .episodes = 20}},
                             {8, {.version = {1, 7}, .mean_return = 10, .episodes = 20}}});
  std::vector<int> expected = {1, 2, 3, 4, 5, 6, 7, 0};
  for (int update = keeps_best ? 6 : 1; update <= 8; ++update) expected.push_back(update);
  REQUIRE(UpdatesOf(setup) == expected);
}

TEST_CASE("a checkpoint that happens to be evaluated is gone back to only if the best are kept") {
  const bool keeps_best = GENERATE(false, true);
  const doubles::TemporaryFolder folder;
  replay::ShardServer shard({.name = "unrolls"});
  LearnerSetup setup = JudgedByEvaluations(folder, shard);
  setup.learner.keep_best_checkpoints = keeps_best ? 1 : 0;
  // The checkpoint of update 3 has the return of an evaluation, that of update 6 has none, and both
  // are from before the symptom.
  RunWithEvaluations(setup, {{3, {.version = {1, 2}, .mean_return = 100, .episodes = 20}},
                             {7, {.version = {1, 6}, .mean_return = 90, .episodes = 20}},
                             {8, {.version = {1, 7}, .mean_return = 10, .episodes = 20}}});
  std::vector<int> expected = {1, 2, 3, 4, 5, 6, 7, 0};
  for (int update = keeps_best ? 4 : 7; update <= 8; ++update) expected.push_back(update);
  REQUIRE(UpdatesOf(setup) == expected);
}

TEST_CASE("in lock step the last version says at the end of training, too, that it is saved") {
  const doubles::TemporaryFolder folder;
  replay::ShardServer shard({.name = "unrolls"});
  // The sixth round is undone, and the checkpoint of update 6 waits for the last update.
  Insert(shard.shard(), 1, 0, 20, 1);
  Insert(shard.shard(), 1, 20, 4, kTooMuch);
  Insert(shard.shard(), 1, 24, 8, 1);
  LearnerSetup setup = RollingBackAtOnce(folder, shard);
  setup.run.deterministic = true;
  setup.learner.updates = 7;
  setup.learner.breaker.max_skips = 3;
  setup.learner.breaker.soften_skips = 1;
  setup.learner.breaker.soften_updates = 2;
  const absl::Status end = RunAlone(setup, {});
  INFO(end);
  REQUIRE(end.ok());
  REQUIRE(NewestCheckpoint(setup) == 7);
  const auto last = parameters::ParametersFolder(setup.run.path() + "/parameters").LoadNewest();
  REQUIRE(last.ok());
  const auto view = model::SafetensorsView::Parse(*last->bytes);
  REQUIRE(view.ok());
  REQUIRE(view->metadata().at("update") == "7");
  REQUIRE(view->metadata().at("checkpoint") == "1");
}

TEST_CASE("a checkpoint that was due while learning was softened is saved once it is not") {
  const doubles::TemporaryFolder folder;
  replay::ShardServer shard({.name = "unrolls"});
  // The sixth round is undone, and update 6 is made with softened learning.
  Insert(shard.shard(), 1, 0, 20, 1);
  Insert(shard.shard(), 1, 20, 4, kTooMuch);
  Insert(shard.shard(), 1, 24, 12, 1);
  LearnerSetup setup = RollingBackAtOnce(folder, shard);
  setup.learner.breaker.max_skips = 3;
  setup.learner.breaker.soften_skips = 1;
  setup.learner.breaker.soften_updates = 2;
  std::int64_t newest = -1;
  const absl::Status end = RunAlone(setup, [&](int sum) {
    if (sum != 9) return;
    AwaitCheckpoint(setup, 7);
    newest = NewestCheckpoint(setup);
  });
  INFO(end);
  REQUIRE(end.ok());
  REQUIRE(UpdatesOf(setup) == std::vector<int>{1, 2, 3, 4, 5, 0, 0, 6, 7, 8});
  REQUIRE(newest == 7);
}

TEST_CASE("a learner that dies in a rollback goes back to the same checkpoint as it starts again") {
  const doubles::TemporaryFolder folder;
  replay::ShardServer shard({.name = "unrolls"});
  // As below: the checkpoint of update 6 is between two symptoms, and that of update 3 before both.
  Insert(shard.shard(), 1, 0, 20, 1);
  Insert(shard.shard(), 1, 20, 4, kTooMuch);
  Insert(shard.shard(), 1, 24, 4, 1);
  Insert(shard.shard(), 1, 28, 8, kTooMuch);
  Fill(shard.shard(), 2);
  LearnerSetup setup = RollingBackAtOnce(folder, shard);
  setup.learner.breaker.max_skips = 2;
  const std::string quarantine = setup.run.path() + "/quarantine";
  const absl::Status killed =
      RunAlone(setup, {}, [&] { return std::filesystem::exists(quarantine); });
  REQUIRE(absl::IsUnavailable(killed));
  // The rollback had condemned what it goes back from, and removed nothing yet.
  REQUIRE(NewestCheckpoint(setup) == 6);
  REQUIRE(Quarantine::Read(quarantine).value().Contains({1, 4}));
  REQUIRE_FALSE(Quarantine::Read(quarantine).value().Contains({1, 3}));
  REQUIRE(RunAlone(setup, {}).ok());
  REQUIRE(UpdatesOf(setup) == std::vector<int>{1, 2, 3, 4, 5, 0, 6, 0, 0, 4, 5, 6, 7, 8});
}

TEST_CASE("training that ends while it is softened, and shows nothing, leaves a last checkpoint") {
  const doubles::TemporaryFolder folder;
  replay::ShardServer shard({.name = "unrolls"});
  // The sixth round is undone, and no checkpoint of update 6 is saved.
  Insert(shard.shard(), 1, 0, 20, 1);
  Insert(shard.shard(), 1, 20, 4, kTooMuch);
  Insert(shard.shard(), 1, 24, 12, 1);
  LearnerSetup setup = RollingBackAtOnce(folder, shard);
  setup.learner.breaker.max_skips = 3;
  setup.learner.breaker.soften_skips = 1;
  std::int64_t newest = -1;
  const absl::Status end = RunAlone(setup, [&](int sum) {
    if (sum == 5) AwaitCheckpoint(setup, 3);
    if (sum == 9) newest = NewestCheckpoint(setup);
  });
  INFO(end);
  REQUIRE(end.ok());
  REQUIRE(UpdatesOf(setup) == std::vector<int>{1, 2, 3, 4, 5, 0, 0, 6, 7, 8});
  REQUIRE(newest == 3);
  REQUIRE(NewestCheckpoint(setup) == 8);
}

TEST_CASE("a checkpoint between two symptoms is not gone back to, and is removed") {
  const doubles::TemporaryFolder folder;
  replay::ShardServer shard({.name = "unrolls"});
  // The sixth round is undone, the seventh makes update 6, and then all are undone.
  Insert(shard.shard(), 1, 0, 20, 1);
  Insert(shard.shard(), 1, 20, 4, kTooMuch);
  Insert(shard.shard(), 1, 24, 4, 1);
  Insert(shard.shard(), 1, 28, 8, kTooMuch);
  Fill(shard.shard(), 2);
  LearnerSetup setup = Setup(folder, shard.address());
  setup.learner.checkpoint_every_updates = 3;
  setup.learner.checkpoint_every_seconds = 1e6;
  setup.learner.updates = 8;
  setup.learner.breaker.max_skips = 2;
  setup.learner.breaker.probation_updates = 1;
  std::int64_t newest = -1;
  const absl::Status end = RunAlone(setup, [&](int sum) {
    if (sum == 8) AwaitCheckpoint(setup, 6);
    if (sum == 11) newest = NewestCheckpoint(setup);
  });
  INFO(end);
  REQUIRE(end.ok());
  REQUIRE(newest == 3);
  REQUIRE(UpdatesOf(setup) == std::vector<int>{1, 2, 3, 4, 5, 0, 6, 0, 0, 4, 5, 6, 7, 8});
}

TEST_CASE("training that cannot be saved ends with OUT_OF_RANGE and leaves the last checkpoint") {
  const doubles::TemporaryFolder folder;
  replay::ShardServer shard({.name = "unrolls"});
  LearnerSetup setup = GoingAstray(folder, shard);
  setup.learner.breaker.max_rollbacks = 0;
  REQUIRE(absl::IsOutOfRange(RunAlone(setup, {})));
  REQUIRE(NewestCheckpoint(setup) == 6);
  const auto quarantine = Quarantine::Read(setup.run.path() + "/quarantine").value();
  for (std::uint64_t step = 0; step < 10; ++step) {
    REQUIRE(quarantine.Contains({1, step}) == (step == 7));
  }
  const std::string diverged = setup.run.path() + "/diverged";
  REQUIRE(runtime::ReadFile(diverged).value().starts_with("training diverged after update 7 ("));

  setup.learner.breaker.max_rollbacks = 1;
  const absl::Status refused = RunAlone(setup, {});
  REQUIRE(absl::IsOutOfRange(refused));
  REQUIRE(runtime::Message(refused).find(diverged) != std::string::npos);
  REQUIRE(NewestCheckpoint(setup) == 6);
  std::filesystem::remove(diverged);
  REQUIRE(RunAlone(setup, {}).ok());
  REQUIRE(NewestCheckpoint(setup) == 8);
}

TEST_CASE("training that has no whole checkpoint to go back to ends with OUT_OF_RANGE") {
  const doubles::TemporaryFolder folder;
  replay::ShardServer shard({.name = "unrolls"});
  const LearnerSetup setup = GoingAstray(folder, shard);
  const absl::Status end = RunAlone(setup, [&](int sum) {
    if (sum != 8) return;
    AwaitCheckpoint(setup, 6);
    std::filesystem::remove_all(setup.run.path() + "/checkpoints");
  });
  REQUIRE(absl::IsOutOfRange(end));
  // They are condemned before anything else can fail.
  const auto quarantine = Quarantine::Read(setup.run.path() + "/quarantine").value();
  REQUIRE(quarantine.Contains({1, 7}));
  REQUIRE_FALSE(quarantine.Contains({1, 6}));
}

TEST_CASE("whether training diverged is asked of a file that can be read, and of no other error") {
  const doubles::TemporaryFolder folder;
  replay::ShardServer shard({.name = "unrolls"});
  Fill(shard.shard(), 1);
  const LearnerSetup setup = Setup(folder, shard.address());
  std::filesystem::create_directories(setup.run.path() + "/diverged");
  for (const absl::Status& end : RunLearners(setup, 0)) {
    INFO(end);
    REQUIRE_FALSE(absl::IsOutOfRange(end));
    REQUIRE(runtime::Message(end).find("whether training diverged") != std::string::npos);
  }
}

}  // namespace shoal::learner
