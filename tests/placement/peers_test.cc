// SPDX-License-Identifier: Apache-2.0
#include "placement/peers.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "placement/graph_file.h"
#include "small_graphs.h"

namespace shoal::placement {
namespace {

const Peer& Of(const std::vector<Peer>& peers, const std::string& method) {
  const auto found = std::find_if(peers.begin(), peers.end(),
                                  [&](const Peer& peer) { return peer.method == method; });
  REQUIRE(found != peers.end());
  return *found;
}

TEST_CASE("no method is better than brute force, and annealing is no worse than one device") {
  runtime::Random random(4);
  for (int i = 0; i < 40; ++i) {
    const Graph graph = RandomGraph(random, 12, 5);
    const DeviceSet devices = RandomDevices(random, 3);
    Simulator simulator = Simulator::Create(graph, devices).value();
    const std::vector<Peer> peers =
        ComparePeers(graph, devices, simulator, {.evaluations = 300, .seed = 1}).value();
    const double best = Of(peers, "brute-force").found.step.cost();
    for (const Peer& peer : peers) REQUIRE(peer.found.step.cost() >= best);
    REQUIRE(Of(peers, "annealing").found.step.cost() <= Of(peers, "one device").found.step.cost());
    REQUIRE(peers[BestPeer(peers)].found.step.cost() == best);
  }
}

TEST_CASE("the largest limit is what makes the step shorter when it is faster") {
  Graph graph;
  AddOperation(graph, 2, 10, {});
  AddOperation(graph, 4, 0, {0});
  const DeviceSet devices = EqualDevices(2, 100);
  Simulator simulator = Simulator::Create(graph, devices).value();
  REQUIRE(simulator.Run({0, 1}).value().seconds == 16);
  const std::vector<Limit> limits = Limits(devices, simulator);
  REQUIRE(limits.size() == 3);
  REQUIRE(limits[0].name == "channel 1");
  REQUIRE(limits[0].gain == Approx(5.0 / 16));
  REQUIRE(limits[1].name == "device 1");
  REQUIRE(limits[2].name == "device 0");
}

TEST_CASE(
    "ResNet-50 on two GPUs: every method's placement is a step of the graph, and searches win") {
  const Graph graph = LoadGraph("data/placement/graphs/resnet50.json").value();
  const DeviceSet devices =
      LoadDevices("data/placement/devices/k80.toml", {"placement.device.gpu.count=2"}).value();
  Simulator simulator = Simulator::Create(graph, devices).value();
  const std::vector<Peer> peers =
      ComparePeers(graph, devices, simulator, {.evaluations = 1'000, .seed = 1}).value();
  REQUIRE(peers.size() == 9);
  for (const Peer& peer : peers) {
    REQUIRE(simulator.Run(peer.found.placement).value().seconds == peer.found.step.seconds);
  }
  REQUIRE(Of(peers, "annealing").found.step.cost() <= Of(peers, "METIS").found.step.cost());
}

}  // namespace
}  // namespace shoal::placement
