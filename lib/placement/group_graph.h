// SPDX-License-Identifier: Apache-2.0
// The groups of a graph as one undirected graph, for rules and partitioners.
//
// Values; pure functions.
#pragma once

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "placement/graph.h"
#include "placement/simulator.h"

namespace shoal::placement {

struct GroupGraph {
  // The seconds of a group's operations on the fastest device.
  std::vector<double> seconds;
  // The bytes that two groups send each other, whichever way; the lower group is first.
  std::map<std::pair<std::size_t, std::size_t>, double> bytes;
  // Groups in the topological order of their first operations.
  std::vector<std::size_t> order;
};

// REQUIRES: `simulator` is of `graph`.
GroupGraph MakeGroupGraph(const Graph& graph, const Simulator& simulator);

// Returns the devices, ascending, that would run all operations one after the other in at most 1.1
// times the time of the fastest: what a person would spread a network over.
std::vector<std::size_t> FastestDevices(const Simulator& simulator);

}  // namespace shoal::placement
