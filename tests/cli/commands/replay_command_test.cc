// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/replay_command.h"

#include <CLI/CLI.hpp>
#include <catch2/catch.hpp>
#include <functional>
#include <string>
#include <vector>

#include "platform/runtime/atomic_file.h"
#include "platform/runtime/program.h"
#include "tests/doubles/temporary_folder.h"

namespace shoal::cli {
namespace {

TEST_CASE("tables are shown shard by shard, with what waits and why, and with their columns") {
  proto::InfoReply info;
  proto::TableInfo& table = *info.add_tables();
  table.set_name("unrolls");
  table.set_size(1024);
  table.set_max_size(1024);
  table.set_bytes(3 << 20);
  table.set_max_bytes(1 << 30);
  table.set_samples_per_insert(2);
  table.set_credit_steps(720);
  table.set_oldest_lag_steps(3);
  table.set_insert_wait("max_size");
  table.set_waiting_inserters(2);
  table.set_seconds_since_insert(12.3);
  table.set_signature("reward FLOAT32 []\nvalue FLOAT32 []");
  const std::vector<std::string> addresses = {"a:1", "b:1"};
  const std::vector<absl::StatusOr<proto::InfoReply>> answers = {
      info, runtime::Unavailable("connection refused")};
  REQUIRE(
      DescribeTables(addresses, answers) ==
      "b:1 does not answer: connection refused\n"
      "table unrolls: 1024 items, 3.0 MiB\n"
      "  a:1: 1024 of 1024 items, 3.0 MiB of 1024.0 MiB, credit 720 steps, the oldest 3 versions "
      "behind\n"
      "    inserts wait: max_size (2 streams), the last one 12.3 s ago\n"
      "    samples go on, the last one 0.0 s ago\n"
      "  columns:\n"
      "    reward FLOAT32 []\n"
      "    value FLOAT32 []\n");
}

TEST_CASE("of a table with a bound in memory it is shown what is on disk and was read from there") {
  proto::InfoReply info;
  proto::TableInfo& table = *info.add_tables();
  table.set_name("unrolls");
  table.set_size(8);
  table.set_max_size(10);
  table.set_bytes(8 << 20);
  table.set_max_bytes(16 << 20);
  table.set_max_memory_bytes(4 << 20);
  table.set_memory_bytes(3 << 20);
  table.set_disk_bytes(5 << 20);
  table.set_reads_total(70);
  table.set_lost_total(2);
  const std::vector<std::string> addresses = {"a:1"};
  const std::vector<absl::StatusOr<proto::InfoReply>> answers = {info};
  REQUIRE(DescribeTables(addresses, answers)
              .find("8 of 10 items, 8.0 MiB of 16.0 MiB, 3.0 MiB of 4.0 MiB in memory and 5.0 MiB "
                    "on disk, 70 reads, 2 items lost on disk\n") != std::string::npos);
}

TEST_CASE("shards are not asked to exclude versions that end in an epoch before they begin") {
  const doubles::TemporaryFolder folder;
  const std::string config = folder.At("cluster.toml");
  const std::string text = "[cluster]\nreplay = [\"unix:" + folder.At("nobody") + "\"]\n";
  REQUIRE(runtime::WriteFileAtomically(config, text).ok());
  const auto exclude = [&](const std::string& last_epoch) {
    CLI::App app;
    std::function<int()> action;
    AddReplay(app, action);
    app.parse("replay exclude 5 10 20 --timeout 0.1 --last-epoch " + last_epoch + " --config " +
              config);
    return action();
  };
  REQUIRE(exclude("4") == runtime::kExitConfiguration);
  REQUIRE(exclude("0") == runtime::kExitConfiguration);
  // Nobody answers what is asked.
  REQUIRE(exclude("6") == runtime::kExitFailed);
}

}  // namespace
}  // namespace shoal::cli
