// SPDX-License-Identifier: Apache-2.0
// A learner on nodes that come and go while the run goes on. Nobody starts the group again: the
// nodes that are left find each other.
#include <signal.h>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "node_cluster.h"
#include "shoal_run.h"

namespace shoal::tests {
namespace {

using std::chrono::seconds;

// Node 0 has two ranks and node 1 has one, so a round of 32 unrolls does not divide evenly among
// all of them.
class ElasticCluster : public NodeCluster {
 public:
  explicit ElasticCluster(std::vector<NodeNetwork> networks = {})
      : NodeCluster(2, std::move(networks)) {}

  void Join(std::size_t node) {
    StartNode(node, {},
              {node == 0 ? "--world-size=2" : "--world-size=1", "--nodes=1:2",
               "--rendezvous=" + rendezvous_, "--node-name=node-" + std::to_string(node)});
  }
  // Waits until a node has logged that its ranks start for `cause`, `times` times, with these
  // numbers.
  void AwaitStart(std::size_t node, const std::string& cause, int first_rank, int world_size,
                  std::size_t times = 1) const {
    const std::string start = "cause=" + cause + " first_rank=" + std::to_string(first_rank) +
                              " world_size=" + std::to_string(world_size) + "\n";
    const bool started = Eventually(seconds(60), [&] { return Count(Log(node), start) == times; });
    INFO(start << "\n" << Log());
    REQUIRE(started);
  }
  // Returns the number of the update that `event` of the newest start of a node tells of.
  std::int64_t NewestUpdate(std::size_t node, const std::string& event) const {
    const std::string log = Log(node);
    const std::string words = "event=" + event + " update=";
    const std::size_t at = log.rfind(words);
    return at == std::string::npos ? -1 : std::stoll(log.substr(at + words.size()));
  }
  // Requires that each update that a node has published was of 32 unrolls, whoever took part.
  void RequireWholeRounds(std::size_t node, std::size_t updates) const {
    std::istringstream lines(FileOf(node, "learner.jsonl"));
    std::size_t seen = 0;
    for (std::string line; std::getline(lines, line);) {
      const auto row = nlohmann::json::parse(line, nullptr, false);
      if (!row.is_object()) continue;
      INFO(line);
      REQUIRE(row.value("unrolls", 0.0) == 32);
      ++seen;
    }
    REQUIRE(seen >= updates);
  }

 private:
  const std::string rendezvous_ = NewAddress(0);
};
}  // namespace

TEST_CASE("nodes learn CartPole while either of them is taken away and comes back", "[elastic]") {
  ElasticCluster cluster;
  cluster.Join(0);
  cluster.RequireSaved(0, 10);
  cluster.Join(1);
  cluster.AwaitStart(1, "joined", 2, 3);
  cluster.RequireSaved(1, 10);
  // The newcomer began with all that had been trained.
  REQUIRE(cluster.NewestUpdate(0, "digest") == cluster.NewestUpdate(1, "resumed"));

  // The one that does not serve is lost with its disk.
  std::int64_t saved = cluster.Saved(0);
  cluster.KillNode(1);
  cluster.LoseDisk(1);
  cluster.AwaitStart(0, "lost", 0, 2);
  cluster.RequireSaved(0, saved + 20);
  REQUIRE(cluster.NewestUpdate(0, "resumed") >= saved);
  cluster.Join(1);
  cluster.AwaitStart(0, "joined", 0, 3, 2);
  cluster.RequireSaved(1, saved + 40);
  REQUIRE(cluster.NewestUpdate(1, "resumed") == cluster.NewestUpdate(0, "digest"));

  // The one that serves and has rank 0 is lost with its disk.
  saved = cluster.Saved(1);
  cluster.KillNode(0);
  cluster.LoseDisk(0);
  cluster.AwaitStart(1, "formed", 0, 1);
  cluster.RequireSaved(1, saved + 20);
  REQUIRE(cluster.NewestUpdate(1, "resumed") >= saved);
  cluster.Join(0);
  cluster.AwaitStart(0, "joined", 1, 3);
  cluster.RequireSaved(0, saved + 40);
  cluster.RequireSolved();

  // One is asked to end: the other one goes on without having lost anything.
  cluster.Signal(1, SIGTERM);
  REQUIRE(cluster.AwaitEnd(1).code == 0);
  const std::int64_t left = cluster.NewestUpdate(1, "digest");
  cluster.RequireSaved(0, left + 10);
  REQUIRE(cluster.NewestUpdate(0, "resumed") == left);
  cluster.Signal(0, SIGTERM);
  REQUIRE(cluster.AwaitEnd(0).code == 0);
  INFO(cluster.Log());
  REQUIRE(cluster.Log().find("event=ranks_failed") == std::string::npos);
  cluster.RequireWholeRounds(1, 40);
  cluster.RequireWholeRounds(0, 10);
  cluster.RequireNoUseTwice();
}

// tests/kubernetes/network.py makes the networks and runs it.
TEST_CASE("nodes learn CartPole over a slow link, and while one of them is cut off and comes back",
          "[.][networks]") {
  const std::vector<NodeNetwork> networks = NodeNetwork::All();
  REQUIRE(networks.size() == 2);
  ElasticCluster cluster(networks);
  cluster.Join(0);
  cluster.RequireSaved(0, 10);
  cluster.Join(1);
  cluster.AwaitStart(1, "joined", 2, 3);
  cluster.RequireSaved(1, cluster.Saved(0) + 10);

  if (cluster.network(1).Slow()) {
    cluster.RequireSaved(1, cluster.Saved(1) + 10);
    cluster.network(1).Hasten();
  } else {
    WARN("this kernel slows no link");
  }

  // Nobody is told that the link is cut: both ends notice that the other one is silent.
  const std::int64_t saved = cluster.Saved(0);
  cluster.network(1).Cut();
  cluster.AwaitStart(0, "lost", 0, 2);
  REQUIRE(Eventually(seconds(60), [&] {
    return cluster.Log(1).find("event=rendezvous_lost") != std::string::npos;
  }));
  // A node that finds no rendezvous for a minute gives up, so it is not cut off for long.
  cluster.RequireSaved(0, saved + 5);
  REQUIRE(cluster.NewestUpdate(0, "resumed") >= saved);
  cluster.network(1).Mend();
  cluster.AwaitStart(1, "joined", 2, 3, 2);
  cluster.RequireSaved(1, saved + 40);
  REQUIRE(cluster.NewestUpdate(1, "resumed") == cluster.NewestUpdate(0, "digest"));
  cluster.RequireSolved();

  for (const std::size_t node : {1, 0}) {
    cluster.Signal(node, SIGTERM);
    REQUIRE(cluster.AwaitEnd(node).code == 0);
  }
  INFO(cluster.Log());
  cluster.RequireWholeRounds(0, 40);
  cluster.RequireNoUseTwice();
}

}  // namespace shoal::tests
