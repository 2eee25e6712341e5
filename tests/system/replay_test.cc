// SPDX-License-Identifier: Apache-2.0
// Replay shards as processes of their own: shown, changed, added and removed while clients use
// them.
#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "cli/cluster/child_process.h"
#include "cli/cluster/local_cluster.h"
#include "platform/runtime/atomic_file.h"
#include "replay/client/inserter.h"
#include "replay/client/sampler.h"
#include "shoal_run.h"
#include "tests/doubles/temporary_folder.h"
#include "tests/replay/messages.h"

namespace shoal::tests {
namespace {

using std::chrono::seconds;

constexpr seconds kPatience(60);

// A cluster file that names its shards by a file, and the shards that were started.
class Shards {
 public:
  // `durability` is that of their one table.
  explicit Shards(const std::string& durability = "none")
      : addresses_(*cli::FreeLoopbackAddresses(3)) {
    config_ = folder_.Write(
        "cluster.toml", "[cluster]\nreplay_file = \"" + list() + "\"\n[replay]\ndirectory = \"" +
                            folder_.At("tables") +
                            "\"\n[[replay.table]]\nname = \"unrolls\"\ndurability = \"" +
                            durability + "\"\n");
  }

  std::string list() const { return folder_.At("shards"); }
  const std::string& config() const { return config_; }
  std::string tables() const { return folder_.At("tables"); }
  const std::string& address(std::size_t shard) const { return addresses_.at(shard); }

  // Writes the addresses of these shards to the file.
  void Name(const std::set<std::size_t>& shards) const {
    std::string text;
    for (const std::size_t shard : shards) text += address(shard) + "\n";
    REQUIRE(runtime::WriteFileAtomically(list(), text).ok());
  }
  void Start(std::size_t shard) {
    auto process = cli::ChildProcess::Start(
        {.name = "replay",
         .command = {SHOAL_PROGRAMS "/replay", "--config", config_, "--index",
                     std::to_string(shard), "--set", "replay.listen=" + address(shard)},
         .log_path = Log(shard)});
    REQUIRE(process.ok());
    processes_[shard] = *std::move(process);
    const bool listens = Eventually(kPatience, [&] {
      return runtime::ReadFile(Log(shard)).value_or("").find("event=listening") !=
             std::string::npos;
    });
    INFO(runtime::ReadFile(Log(shard)).value_or(""));
    REQUIRE(listens);
  }
  void Kill(std::size_t shard) { processes_.erase(shard); }

 private:
  std::string Log(std::size_t shard) const { return folder_.At(std::to_string(shard) + ".log"); }

  const doubles::TemporaryFolder folder_;
  const std::vector<std::string> addresses_;
  std::string config_;
  std::map<std::size_t, std::unique_ptr<cli::ChildProcess>> processes_;
};

// What inference and a learner have.
struct Clients {
  explicit Clients(const Shards& shards) {
    inserter =
        *replay::client::Inserter::Create({.address_file = shards.list()}, provider, metrics);
    sampler = *replay::client::Sampler::Create(
        {.address_file = shards.list(), .table = "unrolls", .prefetch = 8}, sink, metrics);
  }

  void AwaitShards(std::size_t count) const {
    REQUIRE(Eventually(kPatience, [&] {
      return inserter->stats().live_shards == count && sampler->stats().live_shards == count;
    }));
  }
  // Inserts so many items, one after another, and samples each. Returns the shards that they came
  // from.
  std::set<std::size_t> PassThrough(int items) {
    std::set<std::size_t> used;
    for (int i = 0; i < items; ++i, ++next) {
      REQUIRE(
          Eventually(kPatience, [&] { return inserter->TryInsert(replay::ItemOf(next)).ok(); }));
      const auto unroll = sampler->Next(kPatience);
      REQUIRE(unroll.ok());
      REQUIRE(unroll->unroll.id().environment_id() == next);
      used.insert(unroll->shard);
    }
    return used;
  }

  runtime::Metrics metrics;
  replay::FakeProvider provider;
  replay::FakeSink sink;
  std::unique_ptr<replay::client::Inserter> inserter;
  std::unique_ptr<replay::client::Sampler> sampler;
  std::uint64_t next = 0;
};

TEST_CASE("a shard that is added is used by both clients, and one that is removed by none",
          "[replay]") {
  Shards shards;
  shards.Name({0, 1});
  shards.Start(0);
  shards.Start(1);
  Clients clients(shards);
  clients.AwaitShards(2);
  REQUIRE(clients.PassThrough(20) == std::set<std::size_t>{0, 1});

  shards.Start(2);
  shards.Name({0, 1, 2});
  clients.AwaitShards(3);
  REQUIRE(clients.PassThrough(30) == std::set<std::size_t>{0, 1, 2});

  shards.Name({1, 2});
  clients.AwaitShards(2);
  shards.Kill(0);
  REQUIRE(clients.PassThrough(20) == std::set<std::size_t>{1, 2});
  REQUIRE(clients.inserter->stats().dropped_total == 0);
  REQUIRE(clients.inserter->Drain(kPatience).ok());

  // The address comes back with a process that has nothing to do with the first one.
  shards.Start(0);
  shards.Name({0, 1, 2});
  clients.AwaitShards(3);
}

TEST_CASE("a running cluster's tables are shown and changed, each shard for its part", "[replay]") {
  Shards shards;
  shards.Name({0, 1});
  shards.Start(0);
  shards.Start(1);
  const auto replay = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "replay");
    arguments.insert(arguments.end(), {"--config", shards.config()});
    return RunToEnd(arguments);
  };
  const EndedRun changed = replay({"set", "unrolls", "max_size=7", "min_size=6"});
  INFO(changed.output);
  REQUIRE(changed.code == 0);
  REQUIRE(changed.Says(shards.address(0) + ": changed"));
  REQUIRE(changed.Says(shards.address(1) + ": changed"));
  const EndedRun shown = replay({"info"});
  INFO(shown.output);
  REQUIRE(shown.code == 0);
  REQUIRE(shown.Says(shards.address(1) + ": 0 of 7 items"));
  REQUIRE(shown.Says("samples wait: min_size"));
  const EndedRun refused = replay({"set", "unrolls", "max_size=2"});
  INFO(refused.output);
  REQUIRE(refused.code == 2);
  REQUIRE(refused.Says("min_size 3 is above max_size 2"));

  shards.Kill(1);
  const EndedRun half = replay({"set", "unrolls", "max_size=9"});
  REQUIRE(half.code == 1);
  REQUIRE(half.Says(shards.address(0) + ": changed"));
}

TEST_CASE("all shards write a checkpoint and forget versions, each for its part", "[replay]") {
  Shards shards("always");
  shards.Name({0, 1});
  shards.Start(0);
  shards.Start(1);
  const auto replay = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "replay");
    arguments.insert(arguments.end(), {"--config", shards.config()});
    return RunToEnd(arguments);
  };
  const EndedRun written = replay({"checkpoint", "step-7"});
  INFO(written.output);
  REQUIRE(written.code == 0);
  for (const std::size_t shard : {0, 1}) {
    const std::string folder = "/checkpoints/step-7/shard-" + std::to_string(shard);
    REQUIRE(written.Says(folder));
    REQUIRE(std::filesystem::exists(shards.tables() + folder + "/CURRENT"));
  }
  const EndedRun again = replay({"checkpoint", "step-7"});
  INFO(again.output);
  REQUIRE(again.code == 2);
  const EndedRun excluded = replay({"exclude", "1", "3", "5"});
  INFO(excluded.output);
  REQUIRE(excluded.code == 0);
  REQUIRE(excluded.Says(shards.address(1) + ": 0 items removed"));
  REQUIRE(replay({"exclude", "1", "5", "3"}).code == 2);
}

TEST_CASE("the doctor says who waits for whom, who is down, and when it cannot tell", "[replay]") {
  Shards shards;
  shards.Name({0, 1});
  shards.Start(0);
  shards.Start(1);
  const auto doctor = [&](std::vector<std::string> flags) {
    flags.insert(flags.begin(), {"doctor", "--config", shards.config()});
    return RunToEnd(flags);
  };
  const EndedRun well = doctor({});
  INFO(well.output);
  REQUIRE(well.code == 0);
  REQUIRE(well.last_line == "The cluster is healthy.");

  Clients clients(shards);
  clients.AwaitShards(2);
  REQUIRE(Eventually(kPatience, [&] { return doctor({"--patience", "0"}).code == 1; }));
  const EndedRun waits = doctor({"--patience", "0"});
  INFO(waits.output);
  REQUIRE(waits.Says("Samplers of table unrolls wait: 0 of 2 items"));
  REQUIRE(doctor({"--patience", "0", "--json"}).Says("\"verdict\": \"blocked\""));

  shards.Kill(0);
  const EndedRun down = doctor({});
  INFO(down.output);
  REQUIRE(down.code == 1);
  REQUIRE(down.Says("Replay shard " + shards.address(0) + " does not serve: "));
  shards.Kill(1);
  REQUIRE(doctor({}).code == 2);
  REQUIRE(RunToEnd({"doctor", "--config", "/nowhere.toml"}).code == 2);
}

}  // namespace
}  // namespace shoal::tests
