// SPDX-License-Identifier: Apache-2.0
#include "placer/group_features.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "placement/graph_file.h"
#include "tests/placement/small_graphs.h"

namespace shoal::placer {
namespace {

using placement::Graph;
using placement::Simulator;

TEST_CASE("a group is read by the kinds of its operations, its sizes, and what it is adjacent to") {
  // Operation 0 reads operation 1, and nothing reads operation 2.
  Graph graph;
  placement::AddOperation(graph, 4, 10, {});
  placement::AddOperation(graph, 2, 10, {});
  placement::AddOperation(graph, 2, 10, {});
  graph.operations[0].inputs = {{.from = 1, .bytes = 10}};
  graph.operations[0].kind = "conv";
  graph.operations[1].kind = graph.operations[2].kind = "matmul";
  const Simulator simulator = Simulator::Create(graph, placement::EqualDevices(2, 1000)).value();
  const GroupFeatures features = FeaturesOf(graph, simulator);
  REQUIRE(features.order.size() == 3);
  std::size_t at[3];
  for (std::size_t i = 0; i < 3; ++i) at[features.order[i]] = i;
  REQUIRE(at[1] < at[0]);
  REQUIRE(features.kinds == 2);
  REQUIRE(features.kind_shares[at[0] * 2] == 1);
  REQUIRE(features.kind_shares[at[1] * 2] == 0);
  REQUIRE(features.kind_shares[at[1] * 2 + 1] == 1);
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      const bool reads = i == at[0] && j == at[1];
      REQUIRE(features.adjacency[i * 6 + j] == (reads ? 1 : 0));
      const bool is_read = i == at[1] && j == at[0];
      REQUIRE(features.adjacency[i * 6 + 3 + j] == (is_read ? 1 : 0));
    }
  }
  // More arithmetic is a larger number, and what is equal in all groups is 0.
  REQUIRE(features.sizes[at[0] * kSizes] > 0);
  REQUIRE(features.sizes[at[1] * kSizes] == features.sizes[at[2] * kSizes]);
  REQUIRE(features.sizes[at[1] * kSizes] < 0);
  for (std::size_t i = 0; i < 3; ++i) REQUIRE(features.sizes[i * kSizes + 1] == 0);
}

TEST_CASE("sizes of a real network have mean 0 and variance 1, and shares add up to 1") {
  const Graph graph = placement::LoadGraph("data/placement/graphs/inception-v3.json").value();
  const Simulator simulator = Simulator::Create(graph, placement::EqualDevices(2, 1e18)).value();
  const GroupFeatures features = FeaturesOf(graph, simulator);
  const auto groups = static_cast<double>(features.order.size());
  for (std::size_t column = 0; column < kSizes; ++column) {
    double sum = 0;
    double squares = 0;
    for (std::size_t i = column; i < features.sizes.size(); i += kSizes) {
      sum += features.sizes[i];
      squares += features.sizes[i] * features.sizes[i];
    }
    REQUIRE(std::abs(sum / groups) < 1e-4);
    REQUIRE((squares == 0 || squares / groups == Approx(1).epsilon(1e-3)));
  }
  for (std::size_t i = 0; i < features.order.size(); ++i) {
    float sum = 0;
    for (std::size_t k = 0; k < features.kinds; ++k) {
      sum += features.kind_shares[i * features.kinds + k];
    }
    REQUIRE(sum == Approx(1));
  }
}

}  // namespace
}  // namespace shoal::placer
