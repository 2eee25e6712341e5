// SPDX-License-Identifier: Apache-2.0
// Learners whose ranks exchange gradients without waiting for one another.
#include <absl/strings/str_split.h>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "learner/unrolls/quarantine.h"
#include "platform/runtime/atomic_file.h"
#include "tests/doubles/temporary_folder.h"
#include "tests/learner/small_learner.h"
#include "tests/replay/shard_server.h"

namespace shoal::learner {
namespace {

LearnerSetup Asynchronous(LearnerSetup setup) {
  setup.learner.gradients = "asynchronous";
  return setup;
}

}  // namespace

TEST_CASE("asynchronous ranks make as many updates as they are asked to, and use no unroll twice") {
  // Two shards that hold the same unrolls give each out twice, so both ranks may come by one.
  const bool doubled = GENERATE(false, true);
  const doubles::TemporaryFolder folder;
  replay::ShardServer first({.name = "unrolls"});
  replay::ShardServer second({.name = "unrolls"});
  Fill(first.shard(), 1);
  LearnerSetup setup = Asynchronous(Setup(folder, first.address()));
  if (doubled) {
    Fill(second.shard(), 1);
    setup.cluster.replay.push_back(second.address());
  }
  for (const absl::Status& end : RunLearners(setup, 0)) {
    INFO(end);
    REQUIRE(end.ok());
  }
  REQUIRE(NewestCheckpoint(setup) == kUpdates);
  const std::vector<nlohmann::json> lines = Lines(setup);
  REQUIRE(lines.size() == kUpdates);
  double steps = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    REQUIRE(lines[i]["update"] == i + 1);
    REQUIRE(lines[i]["step"] == i + 1);
    REQUIRE(lines[i]["gradient_rank"] <= 1);
    REQUIRE(lines[i]["gradient_staleness"] <= i);
    // A gradient is of the share of one rank.
    REQUIRE(lines[i]["unrolls"] <= 2);
    steps += lines[i]["rows"].get<double>();
    REQUIRE(lines[i]["environment_steps"] == steps);
  }
  std::set<std::string> used;
  const std::vector<std::string> log = absl::StrSplit(
      runtime::ReadFile(setup.run.path() + "/unrolls.log").value(), '\n', absl::SkipEmpty());
  for (const std::string& line : log) {
    const std::vector<std::string> words = absl::StrSplit(line, ' ');
    REQUIRE(used.insert(words[0] + " " + words[1] + " " + words[2] + " " + words[5]).second);
  }
  // Only rank 0 logs, and what it trained on.
  REQUIRE(used.size() == static_cast<std::size_t>(steps) / 2);
  REQUIRE(runtime::ReadFile(setup.run.path() + "/unrolls.1.log").value().empty());
}

TEST_CASE("asynchronous ranks go on from the checkpoint of those before, and skip their unrolls") {
  const doubles::TemporaryFolder folder;
  replay::ShardServer shard({.name = "unrolls", .max_times_sampled = 1});
  Fill(shard.shard(), 1);
  LearnerSetup setup = Asynchronous(Setup(folder, shard.address()));
  for (const absl::Status& end : RunLearners(setup, 0)) REQUIRE(end.ok());
  const double before = Lines(setup).back()["environment_steps"];
  Fill(shard.shard(), 2);
  setup.learner.updates = kUpdates + 2;
  for (const absl::Status& end : RunLearners(setup, 0)) {
    INFO(end);
    REQUIRE(end.ok());
  }
  const std::vector<nlohmann::json> lines = Lines(setup);
  REQUIRE(lines.size() == kUpdates + 2);
  REQUIRE(lines[kUpdates]["update"] == kUpdates + 1);
  REQUIRE(lines[kUpdates]["epoch"] == 2);
  REQUIRE(lines[kUpdates]["environment_steps"] == before + lines[kUpdates]["rows"].get<double>());
}

TEST_CASE("the circuit breaker undoes asynchronous gradients, goes back and condemns versions") {
  const bool rolls_back = GENERATE(false, true);
  const doubles::TemporaryFolder folder;
  replay::ShardServer shard({.name = "unrolls"});
  LearnerSetup setup = Asynchronous(GoingAstray(folder, shard));
  if (!rolls_back) {
    setup.learner.breaker.max_skips = 10;
    setup.learner.updates = 9;
    Insert(shard.shard(), 1, 32, 16, 1);
  }
  const absl::Status end = RunAlone(setup, {});
  INFO(end);
  REQUIRE(end.ok());
  REQUIRE(NewestCheckpoint(setup) == setup.learner.updates);
  const auto quarantine = Quarantine::Read(setup.run.path() + "/quarantine").value();
  REQUIRE(quarantine.Contains({1, 7}) == rolls_back);
  REQUIRE_FALSE(quarantine.Contains({1, 6}));
  std::vector<int> updates;
  for (const nlohmann::json& line : Lines(setup)) {
    updates.push_back(line.contains("action") ? 0 : line["update"].get<int>());
    if (updates.size() > 8) REQUIRE(line["gradients_dropped_total"] == 1);
  }
  const std::vector<int> back = {1, 2, 3, 4, 5, 6, 7, 0, 7, 8};
  const std::vector<int> skipped = {1, 2, 3, 4, 5, 6, 7, 0, 8, 9};
  REQUIRE(updates == (rolls_back ? back : skipped));
}

TEST_CASE("what asynchronous gradients exclude is refused by the name of its knob") {
  const doubles::TemporaryFolder folder;
  LearnerSetup setup = Asynchronous(Setup(folder, "127.0.0.1:1"));
  std::string named;
  SECTION("lock step") {
    setup.run.deterministic = true;
    named = "run.deterministic: not with learner.gradients";
  }
  SECTION("the same parameters on all ranks") {
    setup.learner.verify_ranks = true;
    named = "learner.verify_ranks: ";
  }
  SECTION("several steps of a batch") {
    setup.algorithm.update_epochs = 3;
    named = "learner.gradients: ";
  }
  SECTION("a penalty on the KL, which a softened learner would raise") {
    setup.algorithm.kl_coefficient = 0.5;
    named = "learner.gradients: asynchronous ones do not go together with algorithm.kl_coefficient";
  }
  const absl::Status refused = RunAlone(setup, {});
  INFO(refused);
  REQUIRE(absl::IsInvalidArgument(refused));
  REQUIRE(runtime::Message(refused).starts_with(named));
}

}  // namespace shoal::learner
