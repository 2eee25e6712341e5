// SPDX-License-Identifier: Apache-2.0
#include "placement/trial.h"

#include <catch2/catch.hpp>

#include "small_graphs.h"

namespace shoal::placement {
namespace {

Simulator TwoOperations() {
  Graph graph;
  AddOperation(graph, 2, 3, {});
  AddOperation(graph, 4, 1, {0});
  return Simulator::Create(graph, EqualDevices(3, 100)).value();
}

TEST_CASE("a placement that was tried before has its cost and is not counted again") {
  Simulator simulator = TwoOperations();
  std::uint64_t told = 0;
  const SearchOptions options = {.evaluations = 5,
                                 .progress = [&](std::uint64_t tried) { told = tried; }};
  Trial trial(simulator, options, Repeats::kFree);
  const double apart = trial.Cost({0, 1}).value();
  const double together = trial.Cost({0, 0}).value();
  REQUIRE(together < apart);
  REQUIRE(told == 2);
  REQUIRE(trial.Cost({0, 1}).value() == apart);
  REQUIRE(trial.Cost({0, 0}).value() == together);
  REQUIRE(told == 2);
  REQUIRE(trial.Cost({1, 0}).value() == apart);
  REQUIRE(told == 3);
  REQUIRE(trial.best_placement() == Placement{0, 0});
  REQUIRE(trial.Take().evaluations == 3);
}

TEST_CASE("a search that tries nothing new ends, since the 51st repetition in a row counts") {
  Simulator simulator = TwoOperations();
  const SearchOptions options = {.evaluations = 3};
  Trial trial(simulator, options, Repeats::kFree);
  int asked = 0;
  while (!trial.Ended()) {
    REQUIRE(trial.Cost({0, 1}).ok());
    ++asked;
  }
  REQUIRE(asked == 1 + 2 * 51);
  REQUIRE(trial.Take().evaluations == 3);
}

TEST_CASE("a trial that counts repetitions ends with as many tries as it may have") {
  Simulator simulator = TwoOperations();
  const SearchOptions options = {.evaluations = 3};
  Trial trial(simulator, options);
  for (int i = 0; i < 3; ++i) {
    REQUIRE_FALSE(trial.Ended());
    REQUIRE(trial.Cost({0, 1}).ok());
  }
  REQUIRE(trial.Ended());
}

TEST_CASE("the costs of a trial are those of the simulator, whatever was tried before") {
  runtime::Random random(3);
  Graph graph = RandomGraph(random, 20, 5);
  while (graph.groups.size() != 5) graph = RandomGraph(random, 20, 5);
  Simulator simulator = Simulator::Create(graph, EqualDevices(3, 20)).value();
  const SearchOptions options = {.evaluations = 2'000};
  Trial trial(simulator, options, Repeats::kFree);
  for (int i = 0; i < 2'000; ++i) {
    const Placement placement = RandomPlacement(random, 5, 3);
    REQUIRE(trial.Cost(placement).value() == simulator.Run(placement).value().cost());
  }
  REQUIRE(trial.Take().evaluations < 300);
}

}  // namespace
}  // namespace shoal::placement
