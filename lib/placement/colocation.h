// SPDX-License-Identifier: Apache-2.0
// Groups of a graph by what has to be, or may as well be, on one device, after the heuristics of
// Mirhoseini et al., "Device placement optimization with reinforcement learning", ICML 2017.
//
// Pure functions. REQUIRES of all: TopologicalOrder succeeds for the graph.
#pragma once

#include <cstddef>
#include <vector>

#include "placement/graph.h"

namespace shoal::placement {

// The largest share of a graph's arithmetic, and of its bytes, that a group gets by folding.
inline constexpr double kLargestFold = 1.0 / 16;

// Returns, for each operation, the number of its colocated set: a parameter with its gradient and
// its update. These are operations whose names agree up to the last slash, as in "conv/forward" and
// "conv/update"; an update with a name of its own is with the first backward operation that it
// reads. Sets are numbered from 0 in the order of the graph's operations.
std::vector<std::size_t> ColocatedSets(const Graph& graph);

// Returns the graph with groups that consist of whole colocated sets, whatever its groups were. A
// set whose forward outputs only one other set reads, going forward, is folded into that one, again
// and again, as long as the group does not become larger than kLargestFold: a chain of layers would
// otherwise be one group, which no two devices' memory could share. A group has the name that its
// operations of the most arithmetic have up to the last slash.
Graph GroupByColocation(Graph graph);

}  // namespace shoal::placement
