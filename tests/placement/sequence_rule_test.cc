// SPDX-License-Identifier: Apache-2.0
#include "placement/sequence_rule.h"

#include <catch2/catch.hpp>
#include <string>

#include "tests/placement/small_graphs.h"

namespace shoal::placement {
namespace {

Graph GraphOf(std::size_t groups) {
  Graph graph;
  for (std::size_t i = 0; i < groups; ++i) AddOperation(graph, 1, 1, {});
  return graph;
}

TEST_CASE("the recurrent policy reads the largest graph with its defaults") {
  REQUIRE(CheckSequence({}, GraphOf(kMostSequenceGroups)).ok());
  const absl::Status refused = CheckSequence({}, GraphOf(kMostSequenceGroups + 1));
  REQUIRE(absl::IsInvalidArgument(refused));
  REQUIRE(runtime::Message(refused).find("at most 1000") != std::string::npos);
}

TEST_CASE("settings that would take gigabytes are refused by their names") {
  SequenceRule rule = {.gradient_every = 1000};
  REQUIRE(CheckSequence(rule, GraphOf(100)).ok());
  const absl::Status refused = CheckSequence(rule, GraphOf(1000));
  REQUIRE(absl::IsInvalidArgument(refused));
  REQUIRE(runtime::Message(refused).find("gradient_every or hidden") != std::string::npos);
  rule = {.hidden = 1024};
  REQUIRE_FALSE(CheckSequence(rule, GraphOf(1000)).ok());
}

TEST_CASE("a graph in which each of very many operations is of another kind is refused") {
  Graph graph = GraphOf(1000);
  for (std::size_t i = 0; i < 20'000; ++i) {
    graph.operations.push_back(graph.operations[0]);
    graph.operations.back().kind = std::to_string(i);
  }
  const absl::Status refused = CheckSequence({}, graph);
  REQUIRE(absl::IsInvalidArgument(refused));
  REQUIRE(runtime::Message(refused).find("kinds of operations") != std::string::npos);
}

}  // namespace
}  // namespace shoal::placement
