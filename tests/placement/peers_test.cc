// SPDX-License-Identifier: Apache-2.0
#include "placement/peers.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>

#include "placement/graph_file.h"
#include "small_graphs.h"
#include "tests/doubles/manual_clock.h"

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
  REQUIRE(peers.size() == 10);
  for (const Peer& peer : peers) {
    REQUIRE(simulator.Run(peer.found.placement).value().seconds == peer.found.step.seconds);
  }
  REQUIRE(Of(peers, "annealing").found.step.cost() <= Of(peers, "METIS").found.step.cost());
}

TEST_CASE("first choices and searches get equal shares of the time that is left") {
  const Graph graph = LoadGraph("data/placement/graphs/rnnlm.json").value();
  const DeviceSet devices = LoadDevices("data/placement/devices/k80.toml").value();
  Simulator simulator = Simulator::Create(graph, devices).value();
  doubles::ManualClock clock;
  PeerOptions options = {
      .searches = {"annealing", "brute-force", "post"},
      .evaluations = 1'000'000,
      .seconds = 3,
      .progress = [&](const std::string&,
                      std::uint64_t) { clock.Advance(std::chrono::milliseconds(1)); },
      .clock = clock};
  // The clock stands still while the first choices are made, so two searches have all of it.
  const std::vector<Peer> peers = ComparePeers(graph, devices, simulator, options).value();
  REQUIRE(Of(peers, "first choices").found.evaluations == 1);
  REQUIRE(Of(peers, "annealing").found.evaluations == 1'501);
  REQUIRE(Of(peers, "post").found.seconds == Approx(1.499).margin(0.01));
  // No time is left for the second one.
  options.seconds = 0.001;
  const std::vector<Peer> hasty = ComparePeers(graph, devices, simulator, options).value();
  REQUIRE(hasty.size() == 8);
  REQUIRE(hasty.back().method == "annealing");
  options.stop = [] { return true; };
  const std::vector<Peer> rules = ComparePeers(graph, devices, simulator, options).value();
  REQUIRE(rules.size() == 6);
  REQUIRE(rules.back().method == "METIS");
}

}  // namespace
}  // namespace shoal::placement
