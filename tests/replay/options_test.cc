// SPDX-License-Identifier: Apache-2.0
#include "replay/options.h"

#include <catch2/catch.hpp>

namespace shoal::replay {
namespace {

absl::Status Load(Options& options, const std::vector<std::string>& settings) {
  runtime::Config config;
  config.Add("replay", options);
  return config.Load("", settings);
}

TEST_CASE("what is said for all shards is shared out among them") {
  Options options;
  options.tables = {{}, {}};
  options.tables[1].name = "b";
  options.tables[1].min_size = 7;
  options.tables[1].error_buffer = 30;
  const auto shard = options.ForShard({.shards = 3});
  REQUIRE(shard.ok());
  REQUIRE(shard->tables.size() == 2);
  REQUIRE(shard->tables[1].name == "b");
  REQUIRE(shard->tables[0].limiter.min_size == 1);
  REQUIRE(shard->tables[1].limiter.min_size == 3);
  REQUIRE(shard->tables[1].limiter.error_buffer == Approx(10));
  REQUIRE(options.ForShard({.shards = 0})->tables[1].limiter.min_size == 7);
}

TEST_CASE("each shard and each table draws by a seed of its own, the same in every run of a seed") {
  Options options;
  options.tables = {{}, {}};
  options.tables[1].name = "b";
  const auto seed = [&options](std::uint64_t shard, std::size_t table, std::uint64_t run) {
    return options.ForShard({.index = shard, .shards = 2, .seed = run})->tables[table].seed;
  };
  REQUIRE(seed(0, 0, 1) == seed(0, 0, 1));
  REQUIRE(seed(0, 0, 1) != seed(1, 0, 1));
  REQUIRE(seed(0, 0, 1) != seed(0, 1, 1));
  REQUIRE(seed(0, 0, 1) != seed(0, 0, 2));
}

TEST_CASE("a shard listens where it is told, else at its place in the cluster") {
  Options options;
  const std::vector<std::string> cluster = {"127.0.0.1:1", "127.0.0.1:2"};
  REQUIRE(*ListenAddress(options, cluster, 1) == "127.0.0.1:2");
  REQUIRE(absl::IsInvalidArgument(ListenAddress(options, cluster, 2).status()));
  options.listen = "127.0.0.1:3";
  REQUIRE(*ListenAddress(options, cluster, 2) == "127.0.0.1:3");
}

TEST_CASE("tables are configured one by one, and what is out of range is refused") {
  Options options;
  REQUIRE(Load(options, {"replay.insert_credit=5", "replay.table.0.max_size=6",
                         "replay.table.1.name=other", "replay.table.1.sampler=uniform",
                         "replay.table.1.remover=fifo", "replay.table.1.max_times_sampled=0",
                         "replay.table.1.samples_per_insert=1.5", "replay.table.1.max_staleness=9"})
              .ok());
  REQUIRE(options.insert_credit == 5);
  const auto shard = options.ForShard({});
  REQUIRE(shard.ok());
  const TableOptions& first = shard->tables.at(0);
  REQUIRE(first.name == "unrolls");
  REQUIRE(first.sampler == SelectorKind::kFifo);
  REQUIRE_FALSE(first.remover);
  REQUIRE(first.max_size == 6);
  REQUIRE(first.max_times_sampled == 1);
  const TableOptions& second = shard->tables.at(1);
  REQUIRE(second.sampler == SelectorKind::kUniform);
  REQUIRE(second.remover == SelectorKind::kFifo);
  REQUIRE(second.max_size == 1024);
  REQUIRE(second.max_times_sampled == 0);
  REQUIRE(second.max_staleness == 9);
  REQUIRE(second.limiter.samples_per_insert == 1.5);
  REQUIRE(Shard::Create(*shard).ok());
  REQUIRE(absl::IsInvalidArgument(Load(options, {"replay.table.0.max_size=0"})));
}

TEST_CASE("a configured signature is a list of columns, and one that is none is named") {
  TableKnobs knobs;
  knobs.signature = {"reward FLOAT32 []", "x UINT8 [3, 84]"};
  const auto options = knobs.ForShard({});
  REQUIRE(options.ok());
  REQUIRE(options->signature->Text() == "reward FLOAT32 []\nx UINT8 [3, 84]");
  knobs.signature = {"reward"};
  const absl::Status status = knobs.ForShard({}).status();
  REQUIRE(absl::IsInvalidArgument(status));
  REQUIRE(runtime::Message(status).starts_with("table unrolls: signature: 'reward'"));
}

TEST_CASE("a selector that there is not is refused, and the error lists those that there are") {
  Options options;
  const absl::Status refused = Load(options, {"replay.table.0.sampler=random"});
  REQUIRE(absl::IsInvalidArgument(refused));
  REQUIRE(runtime::Message(refused).find("one of fifo, lifo, uniform") != std::string::npos);
  options.tables[0].remover = "random";
  const absl::Status unknown = options.ForShard({}).status();
  REQUIRE(absl::IsInvalidArgument(unknown));
  REQUIRE(runtime::Message(unknown) ==
          "table unrolls: remover: there is no selector \"random\"; there are fifo, lifo, uniform, "
          "prioritized, min_heap, max_heap, recency");
}

TEST_CASE("a table on disk needs a directory, in which each shard has a folder of its own") {
  Options options;
  REQUIRE(*options.ShardDirectory(0) == "");
  options.tables.push_back({.name = "kept", .durability = "always"});
  const absl::Status missing = options.ShardDirectory(0).status();
  REQUIRE(absl::IsInvalidArgument(missing));
  REQUIRE(missing.message() == "table kept: durability \"always\" needs replay.directory");
  options.tables.back() = {.name = "large", .memory_bytes = 1000};
  REQUIRE(options.ShardDirectory(0).status().message() ==
          "table large: memory_bytes needs replay.directory");
  REQUIRE(options.ForShard({})->tables[1].memory_bytes == 1000);
  options.tables.back() = {.name = "kept", .durability = "always"};
  options.directory = "state";
  REQUIRE(*options.ShardDirectory(2) == "state/shard-2");
  options.tables[1].batch_window_ms = 250;
  const auto shard = options.ForShard({});
  REQUIRE(shard->tables[0].durability == Durability::kNone);
  REQUIRE(shard->tables[1].durability == Durability::kAlways);
  REQUIRE(shard->tables[1].batch_window == std::chrono::milliseconds(250));
}

TEST_CASE("chunks on disk need a directory, and memory for a few of them") {
  Options options;
  options.content_memory_bytes = std::int64_t{1} << 30;
  REQUIRE(runtime::Message(options.ShardDirectory(0).status()) ==
          "replay.content_memory_bytes needs replay.directory");
  REQUIRE(options.ForShard({})->contents.memory_bytes == std::size_t{1} << 30);
  options.content_memory_bytes = options.max_item_bytes;
  REQUIRE(runtime::Message(options.ForShard({}).status()).find("replay.max_item_bytes") !=
          std::string::npos);
  options.content_memory_bytes = options.content_capacity_bytes + 1;
  REQUIRE(runtime::Message(options.ForShard({}).status()).find("replay.content_capacity_bytes") !=
          std::string::npos);
}

}  // namespace
}  // namespace shoal::replay
