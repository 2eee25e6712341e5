// SPDX-License-Identifier: Apache-2.0
#include "placement/graph.h"

#include <catch2/catch.hpp>
#include <limits>

#include "small_graphs.h"

namespace shoal::placement {
namespace {

Graph Chain() {
  Graph graph;
  AddOperation(graph, 1, 1, {});
  AddOperation(graph, 1, 1, {0});
  AddOperation(graph, 1, 1, {1});
  return graph;
}

std::string OrderError(const Graph& graph) {
  const auto order = TopologicalOrder(graph);
  REQUIRE(absl::IsInvalidArgument(order.status()));
  return runtime::Message(order.status());
}

TEST_CASE("operations stand behind their inputs, otherwise by index") {
  Graph graph = Chain();
  graph.operations[0].inputs = {{.from = 2, .bytes = 0}};
  graph.operations[1].inputs = {};
  REQUIRE(TopologicalOrder(graph).status().code() == absl::StatusCode::kOk);
  REQUIRE(*TopologicalOrder(graph) == std::vector<std::size_t>{1, 2, 0});
}

TEST_CASE("a cycle is one error that names an operation of it or behind it") {
  Graph graph = Chain();
  graph.operations[0].inputs = {{.from = 2, .bytes = 0}};
  REQUIRE(OrderError(graph) ==
          "the graph has a cycle: operation \"operation 0\" is in it or behind it");
  graph = Chain();
  graph.operations[1].inputs = {{.from = 1, .bytes = 0}};
  REQUIRE(OrderError(graph) ==
          "the graph has a cycle: operation \"operation 1\" is in it or behind it");
}

TEST_CASE("amounts that are negative, not finite or too large are errors") {
  for (const double wrong : {-1.0, 1e19, std::numeric_limits<double>::quiet_NaN(),
                             std::numeric_limits<double>::infinity()}) {
    Graph graph = Chain();
    graph.operations[1].flops = wrong;
    REQUIRE(OrderError(graph) == "operation \"operation 1\" has flops that are not 0 .. 1e18");
    graph = Chain();
    graph.operations[2].inputs[0].bytes = wrong;
    REQUIRE(OrderError(graph) ==
            "operation \"operation 2\" has an input whose bytes are not 0 .. 1e18");
  }
}

TEST_CASE("inputs and groups that do not exist, empty groups and empty graphs are errors") {
  Graph graph = Chain();
  graph.operations[1].inputs[0].from = 3;
  REQUIRE(OrderError(graph).find("reads operation 3, but there are 3") != std::string::npos);
  graph = Chain();
  graph.operations[1].group = 3;
  REQUIRE(OrderError(graph).find("is of group 3, but there are 3") != std::string::npos);
  graph = Chain();
  graph.groups.push_back("nobody");
  REQUIRE(OrderError(graph) == "group \"nobody\" has no operation");
  REQUIRE(OrderError(Graph{}) == "the graph has no operation");
  graph = {};
  graph.operations.resize(kMostOperations + 1);
  REQUIRE(OrderError(graph) == "the graph has 1000001 operations, the limit is 1000000");
}

}  // namespace
}  // namespace shoal::placement
