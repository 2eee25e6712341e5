// SPDX-License-Identifier: Apache-2.0
#include "placement/colocation.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <string>

#include "placement/graph_file.h"
#include "placement/random_network.h"
#include "small_graphs.h"

namespace shoal::placement {
namespace {

std::size_t Add(Graph& graph, const std::string& name, Phase phase,
                const std::vector<std::size_t>& inputs, double flops = 1) {
  AddOperation(graph, flops, 1, inputs);
  graph.operations.back().name = name;
  graph.operations.back().phase = phase;
  return graph.operations.size() - 1;
}

// Enough that no fold of a few operations is too large.
void AddLargeRest(Graph& graph) {
  for (int i = 0; i < 40; ++i) {
    Add(graph, "rest" + std::to_string(i), Phase::kForward, {}, 10);
    graph.operations.back().activation_bytes = 10;
  }
}

// Whether each of `sets` is in one group.
bool KeepsWhole(const Graph& graph, const std::vector<std::size_t>& sets) {
  std::map<std::size_t, std::size_t> group_of;
  for (std::size_t i = 0; i < sets.size(); ++i) {
    const std::size_t group = graph.operations[i].group;
    if (group_of.emplace(sets[i], group).first->second != group) return false;
  }
  return true;
}

std::size_t GroupOf(const Graph& graph, const std::string& name) {
  for (const Operation& operation : graph.operations) {
    if (operation.name == name) return operation.group;
  }
  FAIL("no operation " << name);
  return 0;
}

TEST_CASE("a parameter, its gradient and its update are one colocated set, whatever their groups") {
  Graph graph;
  const std::size_t forward = Add(graph, "a/forward", Phase::kForward, {});
  const std::size_t other = Add(graph, "b/forward", Phase::kForward, {forward});
  const std::size_t backward = Add(graph, "a/backward", Phase::kBackward, {forward, other});
  Add(graph, "a/update", Phase::kUpdate, {backward});
  // Optimisers may name their operations as they like.
  Add(graph, "momentum/of_a", Phase::kUpdate, {backward});
  const std::size_t of_b = Add(graph, "b/backward", Phase::kBackward, {other});
  Add(graph, "momentum/of_b", Phase::kUpdate, {of_b});
  REQUIRE(ColocatedSets(graph) == std::vector<std::size_t>{0, 1, 0, 0, 0, 1, 1});
}

TEST_CASE("no group splits a colocated set, in networks that ship and in random ones") {
  const auto check = [](const Graph& graph) {
    const std::vector<std::size_t> sets = ColocatedSets(graph);
    // By name the graphs keep them whole, too.
    REQUIRE(KeepsWhole(graph, sets));
    const Graph grouped = GroupByColocation(graph);
    REQUIRE(KeepsWhole(grouped, sets));
    REQUIRE(TopologicalOrder(grouped).ok());
    REQUIRE(std::set<std::string>(grouped.groups.begin(), grouped.groups.end()).size() ==
            grouped.groups.size());
    std::vector<double> flops(grouped.groups.size());
    std::vector<std::set<std::size_t>> sets_of(grouped.groups.size());
    double all = 0;
    for (std::size_t i = 0; i < sets.size(); ++i) {
      const Operation& operation = grouped.operations[i];
      flops[operation.group] += operation.flops;
      sets_of[operation.group].insert(sets[i]);
      all += operation.flops;
    }
    for (std::size_t group = 0; group < flops.size(); ++group) {
      REQUIRE((sets_of[group].size() == 1 || flops[group] <= kLargestFold * all * (1 + 1e-9)));
    }
    return grouped.groups.size();
  };
  for (const char* name : {"inception-v3", "rnnlm", "nmt", "gpt2-small"}) {
    const Graph graph = LoadGraph("data/placement/graphs/" + std::string(name) + ".json").value();
    const std::vector<std::size_t> sets = ColocatedSets(graph);
    const std::size_t groups = check(graph);
    INFO(name << " has " << groups << " groups");
    REQUIRE(groups < 1 + *std::max_element(sets.begin(), sets.end()));
  }
  runtime::Random random(5);
  for (int i = 0; i < 50; ++i) check(RandomNetwork(random, {}));
}

TEST_CASE("what only one other reads is folded into that, again and again") {
  Graph graph;
  const std::size_t a = Add(graph, "a/forward", Phase::kForward, {});
  const std::size_t b = Add(graph, "b/forward", Phase::kForward, {a});
  const std::size_t c = Add(graph, "c/forward", Phase::kForward, {b}, 3);
  Add(graph, "d/forward", Phase::kForward, {c});
  Add(graph, "e/forward", Phase::kForward, {c});
  // Going backward, b's gradient reads what b reads, which does not make two readers of it.
  Add(graph, "b/backward", Phase::kBackward, {a, b});
  AddLargeRest(graph);
  const Graph grouped = GroupByColocation(graph);
  REQUIRE(GroupOf(grouped, "a/forward") == GroupOf(grouped, "b/forward"));
  REQUIRE(GroupOf(grouped, "b/forward") == GroupOf(grouped, "c/forward"));
  REQUIRE(GroupOf(grouped, "c/forward") != GroupOf(grouped, "d/forward"));
  REQUIRE(GroupOf(grouped, "c/forward") != GroupOf(grouped, "e/forward"));
  REQUIRE(grouped.groups[GroupOf(grouped, "a/forward")] == "c");
}

TEST_CASE("two readers that are folded into a third become one") {
  Graph graph;
  const std::size_t a = Add(graph, "a/forward", Phase::kForward, {});
  const std::size_t b = Add(graph, "b/forward", Phase::kForward, {a});
  const std::size_t c = Add(graph, "c/forward", Phase::kForward, {a});
  Add(graph, "d/forward", Phase::kForward, {b, c});
  AddLargeRest(graph);
  const Graph grouped = GroupByColocation(graph);
  for (const char* name : {"b/forward", "c/forward", "d/forward"}) {
    REQUIRE(GroupOf(grouped, name) == GroupOf(grouped, "a/forward"));
  }
}

TEST_CASE("a chain stays divisible: no fold is larger than its share") {
  Graph graph;
  Add(graph, "layer0/forward", Phase::kForward, {});
  for (std::size_t i = 1; i < 64; ++i) {
    Add(graph, "layer" + std::to_string(i) + "/forward", Phase::kForward, {i - 1});
  }
  REQUIRE(GroupByColocation(graph).groups.size() == 16);
}

}  // namespace
}  // namespace shoal::placement
