// SPDX-License-Identifier: Apache-2.0
#include "placement/search.h"

#include <catch2/catch.hpp>
#include <chrono>

#include "small_graphs.h"
#include "tests/doubles/manual_clock.h"

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
  REQUIRE(CanTryAll(simulator, 65'536));
  REQUIRE_FALSE(CanTryAll(simulator, 65'535));
  const Found found = BruteForce(simulator, {.evaluations = 65'536}).value();
  REQUIRE(found.evaluations == 65'536);
  REQUIRE(found.step.seconds == 10);
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

TEST_CASE("a search ends when its time is over or it is stopped, and knows when it was better") {
  Simulator simulator = Simulator::Create(Chains(), EqualDevices(4, 100)).value();
  const std::vector<std::size_t> order = {0, 1, 2, 3, 4, 5, 6, 7};
  doubles::ManualClock clock;
  std::uint64_t asked = 0;
  SearchOptions options = {
      .evaluations = 5'000,
      .seed = 1,
      .progress = [&](std::uint64_t) { clock.Advance(std::chrono::milliseconds(1)); },
      .seconds = 1,
      .stop = [&] { return ++asked > 3; },
      .clock = clock};
  const Found stopped = Anneal(simulator, Placement(8, 0), order, options).value();
  REQUIRE(stopped.evaluations == 4 * 64);
  // The clock goes on after each placement that it was read for.
  REQUIRE(stopped.seconds == Approx(0.255));
  REQUIRE(stopped.improvements.size() > 1);
  for (const Improvement& improvement : stopped.improvements) {
    REQUIRE(improvement.seconds ==
            Approx(1e-3 * static_cast<double>(improvement.evaluations - 1)).margin(1e-9));
  }
  options.stop = [] { return false; };
  const Found late = Anneal(simulator, Placement(8, 0), order, options).value();
  REQUIRE(late.evaluations == 1'001);
  REQUIRE(late.step.seconds == 10);
  REQUIRE(BruteForce(simulator, options).value().evaluations == 1'001);
}

TEST_CASE("a slow search asks whether it is to stop between few placements") {
  Simulator simulator = Simulator::Create(Chains(), EqualDevices(4, 100)).value();
  doubles::ManualClock clock;
  const SearchOptions options = {
      .evaluations = 5'000,
      .seed = 1,
      .progress = [&](std::uint64_t) { clock.Advance(std::chrono::milliseconds(60)); },
      .stop = [] { return true; },
      .clock = clock};
  REQUIRE(Anneal(simulator, Placement(8, 0), {0, 1}, options).value().evaluations == 3);
}

TEST_CASE("annealing cools with the time that it has, if that ends before its placements") {
  Simulator simulator = Simulator::Create(Chains(), EqualDevices(4, 100)).value();
  const std::vector<std::size_t> order = {0, 1, 2, 3, 4, 5, 6, 7};
  doubles::ManualClock clock;
  // 3,000 placements either way, so the same steps are accepted but for the share of one.
  const Found timed =
      Anneal(simulator, Placement(8, 0), order,
             {.evaluations = 1'000'000'000,
              .seed = 2,
              .progress = [&](std::uint64_t) { clock.Advance(std::chrono::milliseconds(1)); },
              .seconds = 3,
              .clock = clock})
          .value();
  const Found counted =
      Anneal(simulator, Placement(8, 0), order, {.evaluations = 3'000, .seed = 2}).value();
  REQUIRE(timed.evaluations == 3'001);
  REQUIRE(timed.step.seconds == counted.step.seconds);
  REQUIRE(timed.best_after() == counted.best_after());
}

TEST_CASE("annealing that starts out of memory ends as near to the optimum as one that fits") {
  // Eight operations of which a device has memory for four; on four devices two each are best.
  Graph graph = Chains();
  for (Operation& operation : graph.operations) operation.parameter_bytes = 20;
  Simulator simulator = Simulator::Create(graph, EqualDevices(4, 100)).value();
  REQUIRE_FALSE(simulator.Run(Placement(8, 0)).value().fits());
  const std::vector<std::size_t> order = {0, 1, 2, 3, 4, 5, 6, 7};
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const Found found =
        Anneal(simulator, Placement(8, 0), order, {.evaluations = 600, .seed = seed}).value();
    INFO(seed);
    REQUIRE(found.step.seconds == 10);
  }
}

}  // namespace
}  // namespace shoal::placement
