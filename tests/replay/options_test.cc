// SPDX-License-Identifier: Apache-2.0
#include "replay/options.h"

#include <catch2/catch.hpp>

namespace shoal::replay {
namespace {

TEST_CASE("what is said for all shards is shared out among them") {
  Options options;
  options.tables = {"a", "b"};
  options.min_size = 7;
  options.error_buffer = 30;
  const ShardOptions shard = options.ForShard(3);
  REQUIRE(shard.tables.size() == 2);
  REQUIRE(shard.tables[1].name == "b");
  REQUIRE(shard.tables[0].limiter.min_size == 3);
  REQUIRE(shard.tables[0].limiter.error_buffer == Approx(10));
  REQUIRE(options.ForShard(0).tables[0].limiter.min_size == 7);
}

TEST_CASE("a shard listens where it is told, else at its place in the cluster") {
  Options options;
  runtime::ClusterOptions cluster;
  cluster.replay = {"127.0.0.1:1", "127.0.0.1:2"};
  REQUIRE(*ListenAddress(options, cluster, 1) == "127.0.0.1:2");
  REQUIRE(absl::IsInvalidArgument(ListenAddress(options, cluster, 2).status()));
  options.listen = "127.0.0.1:3";
  REQUIRE(*ListenAddress(options, cluster, 2) == "127.0.0.1:3");
}

TEST_CASE("every knob is in the section, and out of range is refused") {
  Options options;
  runtime::Config config;
  config.Add("replay", options);
  REQUIRE(config.Load("", {"replay.capacity_items=5", "replay.samples_per_insert=1.5"}).ok());
  REQUIRE(options.capacity_items == 5);
  REQUIRE(options.samples_per_insert == 1.5);
  REQUIRE(absl::IsInvalidArgument(config.Load("", {"replay.capacity_items=0"})));
}

}  // namespace
}  // namespace shoal::replay
