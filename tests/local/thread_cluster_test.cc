// SPDX-License-Identifier: Apache-2.0
#include "local/thread_cluster.h"

#include <catch2/catch.hpp>
#include <string>

namespace shoal::local {
namespace {

// Returns how the start of a cluster fails that would be refused before it has any part.
std::string Refusal(const ClusterSetup& setup) {
  ThreadCluster cluster(setup, {});
  const absl::Status started = cluster.Start();
  REQUIRE(absl::IsInvalidArgument(started));
  REQUIRE(cluster.Stop());
  return runtime::Message(started);
}

}  // namespace

TEST_CASE("what one process cannot run is refused by the name of its knob") {
  ClusterSetup ranks;
  ranks.cluster.learner_ranks = 2;
  REQUIRE(Refusal(ranks).starts_with("cluster.learner_ranks"));
  ClusterSetup mode;
  mode.actor.mode = "record";
  REQUIRE(Refusal(mode).starts_with("actor.mode"));
}

TEST_CASE("addresses for metrics are counted before anything starts") {
  ClusterSetup setup;
  setup.metrics = {"127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:3"};
  REQUIRE(Refusal(setup).find("3 addresses for 4 parts") != std::string::npos);
}

}  // namespace shoal::local
