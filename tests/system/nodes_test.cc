// SPDX-License-Identifier: Apache-2.0
// A learner whose ranks are on two nodes that share no disk. The test starts the nodes, and starts
// them again as a job controller does.
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "node_cluster.h"
#include "shoal_run.h"

namespace shoal::tests {
namespace {

// Starts the ranks of both nodes, as start number `start` of the group.
void StartBoth(NodeCluster& cluster, int start) {
  const std::uint16_t port = FreePort();
  for (const std::size_t node : {0, 1}) {
    cluster.StartNode(
        node,
        {"GROUP_RANK=" + std::to_string(node), "WORLD_SIZE=4", "MASTER_ADDR=127.0.0.1",
         "MASTER_PORT=" + std::to_string(port), "SHOAL_GROUP_EPOCH=" + std::to_string(start)},
        {"--world-size=2"});
  }
}

void RequireBothSaved(const NodeCluster& cluster, std::int64_t updates) {
  for (const std::size_t node : {0, 1}) cluster.RequireSaved(node, updates);
}

}  // namespace

TEST_CASE(
    "ranks on two nodes without a shared disk learn CartPole, although each node loses its disk",
    "[nodes]") {
  NodeCluster cluster(2);
  StartBoth(cluster, 0);
  RequireBothSaved(cluster, 10);
  const std::uint64_t epoch = std::stoull(cluster.FileOf(0, "epoch"));
  REQUIRE(cluster.FilesOfNewest(0).contains("part-0-of-2.safetensors"));
  REQUIRE(cluster.FilesOfNewest(1).contains("part-0-of-2.safetensors"));
  for (const std::size_t lost : {0, 1}) {
    const std::int64_t kept = cluster.Saved(1 - lost);
    cluster.KillNode(lost);
    cluster.LoseDisk(lost);
    cluster.AwaitEnd(1 - lost);
    const std::int64_t saved = std::max(kept, cluster.Saved(1 - lost));
    StartBoth(cluster, static_cast<int>(lost) + 1);
    RequireBothSaved(cluster, saved + 10);
    INFO(cluster.Log());
    REQUIRE(Count(cluster.Log(lost), "event=resumed update=" + std::to_string(saved) + " ") == 2);
  }
  // It counts starts, and the node that lost its disk has heard of it from the other one.
  for (const std::size_t node : {0, 1}) {
    REQUIRE(std::stoull(cluster.FileOf(node, "epoch")) == epoch + 2);
  }
  cluster.RequireSolved();
}

}  // namespace shoal::tests
