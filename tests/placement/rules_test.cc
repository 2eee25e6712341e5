// SPDX-License-Identifier: Apache-2.0
#include "placement/rules.h"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <string>

#include "placement/graph_file.h"
#include "placement/min_cut.h"
#include "small_graphs.h"

namespace shoal::placement {
namespace {

// The example of Topcuoglu et al. 2002, figure 2: ten tasks on three processors.
struct Example {
  Graph graph;
  DeviceSet devices = EqualDevices(3, 100);
};

Example Published() {
  constexpr std::array<std::array<double, 3>, 10> kSeconds = {{{14, 16, 9},
                                                               {13, 19, 18},
                                                               {11, 13, 19},
                                                               {13, 8, 17},
                                                               {12, 13, 10},
                                                               {13, 16, 9},
                                                               {7, 15, 11},
                                                               {5, 11, 14},
                                                               {18, 12, 20},
                                                               {21, 7, 16}}};
  constexpr std::array<std::array<std::size_t, 3>, 15> kEdges = {{{1, 2, 18},
                                                                  {1, 3, 12},
                                                                  {1, 4, 9},
                                                                  {1, 5, 11},
                                                                  {1, 6, 14},
                                                                  {2, 8, 19},
                                                                  {2, 9, 16},
                                                                  {3, 7, 23},
                                                                  {4, 8, 27},
                                                                  {4, 9, 23},
                                                                  {5, 9, 13},
                                                                  {6, 8, 15},
                                                                  {7, 10, 17},
                                                                  {8, 10, 11},
                                                                  {9, 10, 13}}};
  Example example;
  for (std::size_t task = 0; task < kSeconds.size(); ++task) {
    AddOperation(example.graph, 1, 0, {});
    example.graph.operations[task].kind = std::to_string(task);
    for (std::size_t device = 0; device < 3; ++device) {
      example.devices.devices[device].kind_speed[std::to_string(task)] = 1 / kSeconds[task][device];
    }
  }
  for (const auto& [from, to, bytes] : kEdges) {
    example.graph.operations[to - 1].inputs.push_back(
        {.from = from - 1, .bytes = static_cast<double>(bytes)});
  }
  return example;
}

TEST_CASE("HEFT places the published example as published") {
  const Example example = Published();
  const Simulator simulator = Simulator::Create(example.graph, example.devices).value();
  REQUIRE(Heft(example.graph, example.devices, simulator) ==
          Placement{2, 0, 2, 1, 2, 1, 2, 0, 1, 1});
}

TEST_CASE("the even split gives runs of about equal time in topological order") {
  Graph graph;
  for (std::size_t i = 0; i < 6; ++i) {
    AddOperation(graph, i == 0 ? 3 : 1, 1,
                 i == 0 ? std::vector<std::size_t>{} : std::vector{i - 1});
  }
  const Simulator simulator = Simulator::Create(graph, EqualDevices(3, 100)).value();
  const GroupGraph groups = MakeGroupGraph(graph, simulator);
  REQUIRE(groups.order == std::vector<std::size_t>{0, 1, 2, 3, 4, 5});
  REQUIRE(SplitEvenly(groups, {2, 0}) == Placement{2, 2, 0, 0, 0, 0});
  REQUIRE(SplitEvenly(groups, {1}) == Placement(6, 1));
}

// Two layers that are unrolled over three positions, and a softmax; all take as long.
Graph Unrolled() {
  Graph graph;
  for (const std::string layer : {"lstm0/", "lstm1/", "softmax/"}) {
    for (std::size_t position = 0; position < 3; ++position) {
      std::vector<std::size_t> inputs;
      if (graph.groups.size() >= 3) inputs.push_back(graph.groups.size() - 3);
      if (position > 0 && layer != "softmax/") inputs.push_back(graph.groups.size() - 1);
      AddOperation(graph, 2, 1, inputs);
      graph.groups.back() = layer + std::to_string(position);
    }
  }
  return graph;
}

TEST_CASE("an expert keeps layers whole, which the even split of an unrolled network cuts") {
  const Graph graph = Unrolled();
  const Simulator simulator = Simulator::Create(graph, EqualDevices(3, 100)).value();
  const GroupGraph groups = MakeGroupGraph(graph, simulator);
  REQUIRE(SplitByLayer(graph, groups, {2, 0, 1}) == Placement{2, 2, 2, 0, 0, 0, 1, 1, 1});
  // Of three equal layers the last two share a device.
  REQUIRE(SplitByLayer(graph, groups, {0, 1}) == Placement{0, 0, 0, 1, 1, 1, 1, 1, 1});
  REQUIRE(SplitByLayer(graph, groups, {1}) == Placement(9, 1));
  REQUIRE(SplitEvenly(groups, {2, 0, 1}) != SplitByLayer(graph, groups, {2, 0, 1}));
}

TEST_CASE("the expert's cuts follow the layers' times, and names without a slash are layers") {
  Graph graph;
  for (std::size_t i = 0; i < 6; ++i) {
    AddOperation(graph, i == 0 ? 5 : 1, 1,
                 i == 0 ? std::vector<std::size_t>{} : std::vector{i - 1});
  }
  const Simulator simulator = Simulator::Create(graph, EqualDevices(8, 100)).value();
  const GroupGraph groups = MakeGroupGraph(graph, simulator);
  REQUIRE(SplitByLayer(graph, groups, {0, 1}) == Placement{0, 1, 1, 1, 1, 1});
  REQUIRE(SplitByLayer(graph, groups, {0, 1, 2, 3, 4, 5, 6, 7}) == Placement{0, 1, 2, 3, 4, 5});
}

TEST_CASE("the expert gives each recurrent layer of RNNLM a GPU, and the softmax the last one") {
  const Graph graph = LoadGraph("data/placement/graphs/rnnlm.json").value();
  const DeviceSet devices = LoadDevices("data/placement/devices/k80.toml").value();
  const Simulator simulator = Simulator::Create(graph, devices).value();
  const Placement placement =
      SplitByLayer(graph, MakeGroupGraph(graph, simulator), FastestDevices(simulator));
  for (std::size_t group = 0; group < placement.size(); ++group) {
    const std::string& name = graph.groups[group];
    INFO(name);
    const bool on_last = name.starts_with("lstm3") || name.starts_with("softmax");
    const std::size_t device = on_last                     ? 3
                               : name.starts_with("lstm1") ? 1
                               : name.starts_with("lstm2") ? 2
                                                           : 0;
    REQUIRE(placement[group] == device);
  }
}

TEST_CASE("the fastest devices are those within a tenth of the fastest") {
  Graph graph;
  AddOperation(graph, 10, 1, {});
  DeviceSet devices = EqualDevices(4, 100);
  devices.devices[0].speed = 0.5;
  devices.devices[2].speed = 0.95;
  const Simulator simulator = Simulator::Create(graph, devices).value();
  REQUIRE(FastestDevices(simulator) == std::vector<std::size_t>{1, 2, 3});
}

// Two cliques of four groups, which one thin edge joins.
Graph Cliques() {
  Graph graph;
  for (std::size_t i = 0; i < 8; ++i) {
    AddOperation(graph, 1, 100, {});
    for (std::size_t from = i < 4 ? 0 : 4; from < i; ++from) {
      graph.operations[i].inputs.push_back({.from = from, .bytes = 100});
    }
  }
  graph.operations[4].inputs.push_back({.from = 3, .bytes = 1});
  return graph;
}

TEST_CASE("both partitioners cut two cliques where they are joined, and do so again") {
  const Graph graph = Cliques();
  const Simulator simulator = Simulator::Create(graph, EqualDevices(2, 1e6)).value();
  const GroupGraph groups = MakeGroupGraph(graph, simulator);
  for (const auto cut : {CutByMetis, CutByScotch}) {
    const Placement placement = cut(groups, {0, 1}).value();
    REQUIRE(placement[0] != placement[7]);
    REQUIRE(std::count(placement.begin(), placement.begin() + 4, placement[0]) == 4);
    REQUIRE(std::count(placement.begin() + 4, placement.end(), placement[7]) == 4);
    for (int i = 0; i < 5; ++i) REQUIRE(cut(groups, {0, 1}).value() == placement);
  }
}

TEST_CASE("partitioners take graphs with one device, few groups and no edges") {
  Graph graph;
  for (int i = 0; i < 5; ++i) AddOperation(graph, i, 1, {});
  const Simulator simulator = Simulator::Create(graph, EqualDevices(8, 100)).value();
  const GroupGraph groups = MakeGroupGraph(graph, simulator);
  for (const auto cut : {CutByMetis, CutByScotch}) {
    REQUIRE(cut(groups, {3}).value() == Placement(5, 3));
    REQUIRE(cut(groups, {0, 1, 2, 3, 4, 5, 6, 7}).value() == Placement{0, 1, 2, 3, 4});
    REQUIRE(cut(groups, {0, 1}).value() == Placement{0, 1, 0, 1, 0});
  }
}

TEST_CASE("rules and partitioners give a device to each group of random graphs") {
  runtime::Random random(5);
  for (int i = 0; i < 300; ++i) {
    const Graph graph = RandomGraph(random, 40, 30);
    const DeviceSet devices = RandomDevices(random, 8);
    Simulator simulator = Simulator::Create(graph, devices).value();
    const GroupGraph groups = MakeGroupGraph(graph, simulator);
    const std::vector<std::size_t> fastest = FastestDevices(simulator);
    REQUIRE(simulator.Run(Heft(graph, devices, simulator)).ok());
    REQUIRE(simulator.Run(SplitEvenly(groups, fastest)).ok());
    REQUIRE(simulator.Run(SplitByLayer(graph, groups, fastest)).ok());
    REQUIRE(simulator.Run(CutByMetis(groups, fastest).value()).ok());
    REQUIRE(simulator.Run(CutByScotch(groups, fastest).value()).ok());
  }
}

}  // namespace
}  // namespace shoal::placement
