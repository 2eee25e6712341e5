// SPDX-License-Identifier: Apache-2.0
#include "replay/table_settings.h"

#include <catch2/catch.hpp>
#include <memory>

#include "tests/doubles/temporary_folder.h"
#include "tests/replay/values.h"

namespace shoal::replay {
namespace {

struct TwoTables {
  explicit TwoTables(const ShardPlace& place = {}) {
    Options options;
    options.tables = {{}, {.name = "games", .sampler = "uniform", .remover = "fifo"}};
    options.tables[1].max_times_sampled = 0;
    shard = *Shard::Create(*options.ForShard(place));
    settings = std::make_unique<TableSettings>(options.tables, place, *shard);
  }
  absl::Status Change(const std::vector<std::string>& values) {
    return settings->Change("games", values);
  }
  TableOptions games() const { return shard->tables()[1].options; }

  std::unique_ptr<Shard> shard;
  std::unique_ptr<TableSettings> settings;
};

TEST_CASE("settings change one table, and each shard takes its part") {
  TwoTables tables({.index = 1, .shards = 4});
  REQUIRE(tables
              .Change({"max_size=64", "min_size=10", "samples_per_insert=2.5", "error_buffer=40",
                       "max_staleness=7", "max_age_seconds=1.5", "max_times_sampled=8",
                       "max_bytes=4096"})
              .ok());
  const TableOptions games = tables.games();
  REQUIRE(games.max_size == 64);
  REQUIRE(games.max_bytes == 4096);
  REQUIRE(games.max_times_sampled == 8);
  REQUIRE(games.max_staleness == 7);
  REQUIRE(games.max_age == std::chrono::milliseconds(1500));
  REQUIRE(games.limiter.min_size == 3);
  REQUIRE(games.limiter.samples_per_insert == 2.5);
  REQUIRE(games.limiter.error_buffer == 10);
  REQUIRE(tables.shard->tables()[0].options.max_size == 1024);
}

TEST_CASE("limits for all shards together are divided anew when shards come and go") {
  const doubles::TemporaryFolder folder;
  const std::string file = folder.Write("shards", "a:1\nb:2\n");
  Options options;
  options.tables[0].min_size = 100;
  const ShardPlace place{.index = 0, .shards = 2};
  const auto shard = *Shard::Create(*options.ForShard(place));
  TableSettings settings(options.tables, place, *shard,
                         *transport::AddressList::Create({}, file, "replay shard"));
  REQUIRE(settings.Change("unrolls", std::vector<std::string>{"error_buffer=30"}).ok());
  folder.Write("shards", "a:1\nb:2\nc:3\n");
  settings.FollowShards(runtime::TimePoint{std::chrono::hours(1)});
  const TableOptions unrolls = shard->tables()[0].options;
  REQUIRE(unrolls.limiter.min_size == 34);
  REQUIRE(unrolls.limiter.error_buffer == 10);
}

TEST_CASE("later settings keep the earlier ones") {
  TwoTables tables;
  REQUIRE(tables.Change({"max_size=64"}).ok());
  REQUIRE(tables.Change({"max_staleness=3"}).ok());
  REQUIRE(tables.games().max_size == 64);
  REQUIRE(tables.games().max_staleness == 3);
}

TEST_CASE("one wrong setting keeps all old ones, and is named") {
  TwoTables tables;
  const auto refused = [&](const std::vector<std::string>& values, const std::string& named) {
    const absl::Status status = tables.Change(values);
    INFO(status.ToString());
    REQUIRE(absl::IsInvalidArgument(status));
    REQUIRE(runtime::Message(status).find(named) != std::string::npos);
    REQUIRE(tables.games().max_size == 1024);
  };
  refused({"max_size=64", "max_sise=3"}, "'max_sise' cannot be changed");
  refused({"max_size=64", "sampler=lifo"}, "'sampler' cannot be changed");
  refused({"max_size=64", "max_staleness=-1"}, "max_staleness");
  refused({"max_size=64", "max_staleness=soon"}, "max_staleness");
  refused({"max_size=64", "max_staleness"}, "max_staleness");
  refused({"max_size=64", "min_size=65"}, "min_size 65 is above max_size 64");
  refused({"max_size=64", "max_times_sampled=2", "samples_per_insert=3"}, "samples_per_insert");
  // A change after a refused one starts from what holds.
  REQUIRE(tables.Change({"min_size=100"}).ok());
  REQUIRE(tables.games().max_staleness == 0);
  REQUIRE(absl::IsNotFound(tables.settings->Change("plays", std::vector<std::string>{})));
}

TEST_CASE("a table that shrinks evicts by its remover, and tells whoever waits for a change") {
  TwoTables tables;
  for (std::uint64_t i = 0; i < 9; ++i) {
    auto item = ItemNumber(i);
    REQUIRE(tables.shard->Insert("games", item).ok());
  }
  const std::uint64_t seen = tables.shard->AwaitChange(0, {});
  REQUIRE(tables.Change({"max_size=4"}).ok());
  REQUIRE(tables.shard->AwaitChange(seen, {}) != seen);
  REQUIRE(tables.shard->stats().tables[1].size == 4);
  REQUIRE(tables.shard->stats().tables[1].evicted_for_room_total == 5);
}

}  // namespace
}  // namespace shoal::replay
