// SPDX-License-Identifier: Apache-2.0
#include "placement/search.h"

#include <catch2/catch.hpp>

#include "small_graphs.h"

namespace shoal::placement {
namespace {

// Four independent chains of two operations each.
Graph Chains() {
  Graph graph;
  for (std::size_t i = 0; i < 8; ++i) {
    AddOperation(graph, 5, 1, i % 2 == 0 ? std::vector<std::size_t>{} : std::vector{i - 1});
  }
  return graph;
}

TEST_CASE(
    "brute force tries every placement and finds the best, which chains on devices of their own "
    "are") {
  Simulator simulator = Simulator::Create(Chains(), EqualDevices(4, 100)).value();
  const auto found = BruteForce(simulator, {.evaluations = 65'536}).value();
  REQUIRE(found.has_value());
  REQUIRE(found->evaluations == 65'536);
  REQUIRE(found->step.seconds == 10);
  REQUIRE_FALSE(BruteForce(simulator, {.evaluations = 65'535}).value().has_value());
}

TEST_CASE("annealing reaches the optimum of small graphs, with any seed") {
  Simulator simulator = Simulator::Create(Chains(), EqualDevices(4, 100)).value();
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const SearchOptions options = {.evaluations = 5'000, .seed = seed};
    const Found annealed =
        Anneal(simulator, Placement(8, 0), {0, 1, 2, 3, 4, 5, 6, 7}, options).value();
    REQUIRE(annealed.step.seconds == 10);
    REQUIRE(annealed.evaluations == 5'000);
    REQUIRE(simulator.Run(annealed.placement).value().seconds == 10);
  }
}

TEST_CASE("a search that starts out of memory leaves the failed placement behind") {
  Graph graph;
  AddOperation(graph, 1, 6, {});
  AddOperation(graph, 1, 6, {});
  Simulator simulator = Simulator::Create(graph, EqualDevices(2, 10)).value();
  graph.operations[0].parameter_bytes = graph.operations[1].parameter_bytes = 6;
  graph.operations[0].activation_bytes = graph.operations[1].activation_bytes = 0;
  simulator = Simulator::Create(graph, EqualDevices(2, 10)).value();
  REQUIRE_FALSE(simulator.Run({0, 0}).value().fits());
  const Found found = Anneal(simulator, {0, 0}, {0, 1}, {.evaluations = 50}).value();
  REQUIRE(found.step.fits());
  REQUIRE(found.placement[0] != found.placement[1]);
}

TEST_CASE("a search of one evaluation ends, and tells of its progress") {
  Simulator simulator = Simulator::Create(Chains(), EqualDevices(2, 100)).value();
  std::uint64_t told = 0;
  const SearchOptions options = {
      .evaluations = 1, .seed = 1, .progress = [&](std::uint64_t tried) { told += tried; }};
  REQUIRE(Anneal(simulator, Placement(8, 1), {0}, options).value().placement == Placement(8, 1));
  REQUIRE(told == 1);
}

}  // namespace
}  // namespace shoal::placement
