// SPDX-License-Identifier: Apache-2.0
// Learners whose disk has no room for a while, or for good.
#include "tests/doubles/full_disk.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "learner/epoch_file.h"
#include "learner/learner.h"
#include "learner/learner_metrics.h"
#include "learner/unrolls/quarantine.h"
#include "learner/unrolls/unroll_ledger.h"
#include "platform/runtime/appended_file.h"
#include "platform/runtime/atomic_file.h"
#include "tests/doubles/temporary_folder.h"
#include "tests/learner/small_learner.h"
#include "tests/replay/shard_server.h"

extern "C" ssize_t write(int file, const void* bytes, size_t size) {
  if (!shoal::doubles::FullDisk::HasNoRoom(file)) return ::syscall(SYS_write, file, bytes, size);
  errno = ENOSPC;
  return -1;
}

namespace shoal::learner {
namespace {

using doubles::FullDisk;

// The numbers of the updates that an on-policy learner has logged ids for, one for each id.
std::vector<int> LoggedUpdates(const LearnerSetup& setup) {
  const std::string text = runtime::ReadFile(setup.run.path() + "/unrolls.log").value();
  std::vector<int> updates;
  const std::vector<std::string> lines = absl::StrSplit(text, '\n', absl::SkipEmpty());
  for (const std::string& line : lines) {
    const std::vector<std::string> numbers = absl::StrSplit(line, ' ');
    updates.push_back(std::stoi(numbers.at(4)));
  }
  return updates;
}

TEST_CASE("a disk that is full for a while costs checkpoints and lines, and no training") {
  const doubles::TemporaryFolder folder;
  replay::ShardServer shard({.name = "unrolls"});
  Fill(shard.shard(), 1);
  LearnerSetup setup = Setup(folder, shard.address());
  setup.learner.keep_checkpoints = 1;
  setup.learner.updates = 6;
  std::optional<FullDisk> full;
  const absl::Status end = RunAlone(setup, [&](int sum) {
    // The n-th sum is in the n-th update, whose ids have been logged and whose line has not.
    if (sum == 2) full.emplace(setup.run.path());
    if (sum != 4) return;
    REQUIRE(full->refused() > 0);
    REQUIRE(LoggedUpdates(setup) == std::vector<int>{1, 1, 1, 1, 2, 2, 2, 2});
    full.reset();
  });
  INFO(end);
  REQUIRE(end.ok());
  std::vector<int> reported;
  for (const nlohmann::json& line : Lines(setup)) reported.push_back(line["update"].get<int>());
  REQUIRE(reported == std::vector<int>{1, 4, 5, 6});
  std::vector<int> logged;
  for (int update = 1; update <= 6; ++update) logged.insert(logged.end(), 4, update);
  REQUIRE(LoggedUpdates(setup) == logged);
  REQUIRE(NewestCheckpoint(setup) == 6);
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(setup.run.path() + "/checkpoints")) {
    names.insert(entry.path().filename());
  }
  REQUIRE(names == std::set<std::string>{"LATEST", "checkpoint-000000000006"});
}

TEST_CASE("a run whose last checkpoint has no room ends with an error that names the folder") {
  const doubles::TemporaryFolder folder;
  replay::ShardServer shard({.name = "unrolls"});
  Fill(shard.shard(), 1);
  LearnerSetup setup = Setup(folder, shard.address());
  setup.learner.checkpoint_every_updates = 100;
  setup.learner.checkpoint_every_seconds = 1e6;
  std::optional<FullDisk> full;
  const absl::Status end = RunAlone(setup, [&](int sum) {
    if (sum == 1) full.emplace(setup.run.path() + "/checkpoints");
  });
  REQUIRE(full->refused() > 0);
  REQUIRE(absl::IsResourceExhausted(end));
  REQUIRE(runtime::Message(end).starts_with(setup.run.path() + "/checkpoints has room for "));
  full.reset();
  REQUIRE(NewestCheckpoint(setup) == 0);
}

TEST_CASE("a rollback on a full disk stays in its epoch, and what it condemns is written later") {
  const doubles::TemporaryFolder folder;
  replay::ShardServer shard({.name = "unrolls"});
  Insert(shard.shard(), 1, 0, 28, 1);
  Insert(shard.shard(), 1, 28, 4, kTooMuch);
  Insert(shard.shard(), 1, 32, 12, 1);
  LearnerSetup setup = RollingBackAtOnce(folder, shard);
  setup.learner.updates = 9;
  std::optional<FullDisk> full;
  const std::string quarantine = setup.run.path() + "/quarantine";
  const absl::Status end = RunAlone(setup, [&](int sum) {
    if (sum == 8) {
      AwaitCheckpoint(setup, 6);
      full.emplace(setup.run.path());
    }
    // The update before was the first that found room.
    if (sum == 11) REQUIRE(std::filesystem::exists(quarantine));
    if (sum != 10) return;
    // Update 7 was made again, and tried to write it, too.
    REQUIRE(full->refused() > 3);
    REQUIRE_FALSE(std::filesystem::exists(quarantine));
    REQUIRE(ReadEpoch(setup.run.path() + "/epoch").value() == 1);
    REQUIRE(TakesUnrollOf(shard, 6));
    REQUIRE_FALSE(TakesUnrollOf(shard, 7));
    REQUIRE(TakesUnrollOf(shard, 8));
    full.reset();
  });
  INFO(end);
  REQUIRE(end.ok());
  REQUIRE(NewestCheckpoint(setup) == 9);
  const auto condemned = Quarantine::Read(quarantine).value();
  REQUIRE(condemned.Contains({1, 7}));
  REQUIRE_FALSE(condemned.Contains({1, 6}));
  REQUIRE_FALSE(condemned.Contains({1, 8}));
  std::set<std::pair<int, int>> published;
  for (const nlohmann::json& line : Lines(setup)) {
    if (line.contains("action")) continue;
    REQUIRE(line["epoch"] == 1);
    REQUIRE(published.emplace(1, line["step"].get<int>()).second);
  }
  // Versions 1 to 7, of which the last is undone, 8 as the checkpoint, and two more.
  REQUIRE(published.rbegin()->second == 11);
}

TEST_CASE("a rollback of asynchronous gradients ends the rank where its epoch has no room") {
  const doubles::TemporaryFolder folder;
  replay::ShardServer shard({.name = "unrolls"});
  LearnerSetup setup = GoingAstray(folder, shard);
  setup.learner.gradients = "asynchronous";
  const auto learner = Learner::Create(setup, std::make_unique<collectives::SingleRank>()).value();
  absl::Status end;
  {
    const FullDisk full(setup.run.path());
    end = learner->Run();
  }
  INFO(end);
  REQUIRE(absl::IsResourceExhausted(end));
  REQUIRE(runtime::Message(end).starts_with("epoch 2 cannot begin: "));
  // The first checkpoint is the only one.
  REQUIRE(TakesUnrollOf(shard, 0));
  REQUIRE_FALSE(TakesUnrollOf(shard, 7));
}

TEST_CASE("an epoch for which the disk has no room does not begin, and the error says so") {
  const doubles::TemporaryFolder folder;
  replay::ShardServer shard({.name = "unrolls"});
  Fill(shard.shard(), 1);
  const LearnerSetup setup = Setup(folder, shard.address());
  const FullDisk full(setup.run.path());
  const absl::Status end = RunAlone(setup, {});
  INFO(end);
  REQUIRE(full.refused() > 0);
  REQUIRE(absl::IsResourceExhausted(end));
  REQUIRE(runtime::Message(end).starts_with("epoch 1 cannot begin: cannot write "));
}

TEST_CASE("ids that had no room are known, and are on disk once there is some") {
  const doubles::TemporaryFolder folder;
  const auto open = [&] {
    return UnrollLedger::Create({.folder = folder.path(), .window = 4}).value();
  };
  const auto ledger = open();
  REQUIRE(ledger->Append(1, 1, std::vector{UnrollUse{{1, 0, 0}}}).ok());
  {
    const FullDisk full(folder.path());
    const std::vector<UnrollUse> uses = {{{2, 0, 0}}, {{3, 0, 0}}};
    REQUIRE(absl::IsResourceExhausted(ledger->Append(1, 2, uses)));
    REQUIRE(full.refused() == 1);
    REQUIRE(ledger->Contains({{2, 0, 0}}));
    REQUIRE(open()->size() == 1);
  }
  REQUIRE(ledger->Append(1, 3, std::vector{UnrollUse{{4, 0, 0}}}).ok());
  REQUIRE(runtime::ReadFile(folder.path() + "/unrolls.log").value() ==
          "1 0 0 1 1 1\n2 0 0 1 2 1\n3 0 0 1 2 1\n4 0 0 1 3 1\n");
}

TEST_CASE("as many ids wait for room as the ledger remembers") {
  const doubles::TemporaryFolder folder;
  const auto ledger = UnrollLedger::Create({.folder = folder.path(), .window = 2}).value();
  {
    const FullDisk full(folder.path());
    for (std::uint64_t i = 1; i <= 4; ++i) {
      REQUIRE(absl::IsResourceExhausted(ledger->Append(1, i, std::vector{UnrollUse{{i, 0, 0}}})));
    }
  }
  REQUIRE(ledger->Append(1, 5, std::vector{UnrollUse{{5, 0, 0}}}).ok());
  REQUIRE(runtime::ReadFile(folder.path() + "/unrolls.log").value() ==
          "3 0 0 1 3 1\n4 0 0 1 4 1\n5 0 0 1 5 1\n");
}

TEST_CASE("lines of metrics come again once there is room, and each that is missing is counted") {
  const doubles::TemporaryFolder folder;
  runtime::Metrics metrics;
  const auto reports = LearnerMetrics::Create(folder.At("learner.jsonl"), metrics).value();
  const Verdict verdict{BreakerAction::kSkip, Symptom::kNotFinite};
  reports->RecordVerdict(1, verdict);
  {
    const FullDisk full(folder.path());
    reports->RecordVerdict(2, verdict);
    reports->RecordVerdict(3, verdict);
    REQUIRE(full.refused() == 2);
  }
  reports->RecordVerdict(4, verdict);
  const std::vector<std::string> lines = absl::StrSplit(
      runtime::ReadFile(folder.At("learner.jsonl")).value(), '\n', absl::SkipEmpty());
  REQUIRE(lines.size() == 2);
  REQUIRE(nlohmann::json::parse(lines[1])["undone_after_update"] == 4);
  REQUIRE(metrics.Text().find("shoal_learner_not_saved_total{what=\"metrics\"} 2\n") !=
          std::string::npos);
}

}  // namespace
}  // namespace shoal::learner
