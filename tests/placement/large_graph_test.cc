// SPDX-License-Identifier: Apache-2.0
// The largest graph that is read: each operation is a group.
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <utility>

#include "placement/distribution_search.h"
#include "placement/graph_file.h"
#include "placement/rules.h"
#include "placement/search.h"
#include "small_graphs.h"

namespace shoal::placement {
namespace {

std::string MillionOperations() {
  std::string text = R"({"format":"shoal-graph-1","operations":[)";
  for (std::size_t i = 0; i < kMostOperations; ++i) {
    const std::string inputs = i < 2 ? "" : std::to_string(i - 2);
    text += (i == 0 ? "" : ",") + (R"({"name":"n)" + std::to_string(i)) +
            R"(/f","kind":"conv","phase":"forward","inputs":[)" + inputs +
            R"(],"shape":[],"flops":1,"parameter_bytes":0,"activation_bytes":1})";
  }
  return text + "]}";
}

TEST_CASE("a graph of a million operations is read, and placed with few placements") {
  const Graph graph = ParseGraph(MillionOperations()).value();
  REQUIRE(graph.groups.size() == kMostOperations);
  DeviceSet devices = EqualDevices(2, 1e9);
  for (Channel& channel : devices.channels) channel.bandwidth = 1e9;
  Simulator simulator = Simulator::Create(graph, devices).value();
  const GroupGraph groups = MakeGroupGraph(graph, simulator);
  const Placement start = SplitByLayer(graph, groups, {0, 1});
  const SearchOptions options = {.evaluations = 2, .seed = 1};
  const Found annealed = Anneal(simulator, start, groups.order, options).value();
  REQUIRE(annealed.step.fits());
  const Found drawn =
      SearchByDistribution("post", DistributionRules().post, groups, simulator, options).value();
  REQUIRE(drawn.evaluations == 2);
  REQUIRE(drawn.placement.size() == kMostOperations);
}

TEST_CASE("HEFT ends where every operation finds gaps that are too short for it") {
  constexpr std::size_t kChain = 100'000;
  // The chain goes back and forth between two devices, each of which waits for the other.
  Graph graph;
  graph.groups = {"here", "there"};
  for (std::size_t i = 0; i < kChain; ++i) {
    Operation operation;
    operation.name = std::to_string(i);
    operation.group = i % 2;
    operation.kind = graph.groups[operation.group];
    operation.flops = 1;
    if (i > 0) operation.inputs.push_back({.from = i - 1, .bytes = 0});
    graph.operations.push_back(std::move(operation));
  }
  for (std::size_t i = 0; i < kChain; ++i) AddOperation(graph, 2, 0, {});
  DeviceSet devices = EqualDevices(2, 100);
  devices.devices[1].kind_speed["here"] = devices.devices[0].kind_speed["there"] = 0.1;
  const Simulator simulator = Simulator::Create(graph, devices).value();
  const Placement placement = Heft(graph, devices, simulator);
  REQUIRE(placement[0] == 0);
  REQUIRE(placement[1] == 1);
  // The rest goes behind the chain, to one device and the other in turn.
  REQUIRE(std::count(placement.begin(), placement.end(), 0) == 1 + kChain / 2);
}

}  // namespace
}  // namespace shoal::placement
