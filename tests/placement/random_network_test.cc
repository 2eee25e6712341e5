// SPDX-License-Identifier: Apache-2.0
#include "placement/random_network.h"

#include <catch2/catch.hpp>
#include <set>

#include "placement/random_machine.h"
#include "placement/simulator.h"

namespace shoal::placement {
namespace {

TEST_CASE("every random network is a graph of about the size that was asked for") {
  std::set<std::size_t> sizes;
  for (std::uint64_t i = 0; i < 300; ++i) {
    runtime::Random random(1, i);
    const Graph graph = RandomNetwork(random, {.least_groups = 6, .most_groups = 20});
    REQUIRE(TopologicalOrder(graph).ok());
    REQUIRE(graph.groups.size() <= 20 + kMostGroupsBeyond);
    sizes.insert(graph.groups.size());
    bool updates = false;
    double forward = 0;
    double backward = 0;
    for (const Operation& operation : graph.operations) {
      updates = updates || operation.phase == Phase::kUpdate;
      if (operation.phase == Phase::kForward) forward += operation.flops;
      if (operation.phase == Phase::kBackward) backward += operation.flops;
    }
    REQUIRE(updates);
    REQUIRE(backward == Approx(2 * forward));
  }
  REQUIRE(sizes.size() > 10);
}

TEST_CASE("a random network and machine are a function of the draws") {
  const auto seconds = [](std::uint64_t seed) {
    runtime::Random random(seed);
    const Graph graph = RandomNetwork(random, {});
    const DeviceSet devices = RandomMachine(random, graph);
    Simulator simulator = Simulator::Create(graph, devices).value();
    return simulator.Run(Placement(graph.groups.size(), 0)).value().seconds;
  };
  REQUIRE(seconds(1) == seconds(1));
  REQUIRE(seconds(1) != seconds(2));
}

TEST_CASE("a random machine has a channel for each pair, and memory that is sometimes too small") {
  int tight = 0;
  for (std::uint64_t i = 0; i < 200; ++i) {
    runtime::Random random(2, i);
    const Graph graph = RandomNetwork(random, {});
    const DeviceSet devices = RandomMachine(random, graph);
    const std::size_t count = devices.devices.size();
    REQUIRE(count >= 2);
    REQUIRE(count <= kMostMachineDevices);
    REQUIRE(devices.channel_between.size() == count * count);
    for (const std::size_t channel : devices.channel_between) {
      REQUIRE(channel < devices.channels.size());
    }
    auto simulator = Simulator::Create(graph, devices);
    if (!simulator.ok()) continue;
    if (!simulator->Run(Placement(graph.groups.size(), 0)).value().fits()) ++tight;
  }
  REQUIRE(tight > 10);
  REQUIRE(tight < 100);
}

}  // namespace
}  // namespace shoal::placement
