// SPDX-License-Identifier: Apache-2.0
// Placements by rule, without any search.
//
// Pure functions but for the simulator's latest Run. REQUIRES of all: `simulator` is of `graph`.
#pragma once

#include <cstddef>
#include <vector>

#include "placement/graph.h"
#include "placement/group_graph.h"
#include "placement/simulator.h"

namespace shoal::placement {

// All groups on the device on which the step costs least (Step::cost).
Placement OnOneDevice(Simulator& simulator);

// What an expert does by hand: the groups in topological order are cut into as many runs as there
// are `devices`, so that each takes about the same time, and run i goes to device i. A group goes
// to the run in which the middle of its time lies.
Placement SplitEvenly(const GroupGraph& groups, const std::vector<std::size_t>& devices);

// HEFT (Topcuoglu, Hariri and Wu, IEEE TPDS 13(3), 2002): operations in the order of their upward
// rank go to the device where each finishes first, in a gap of its schedule if there is one. The
// first operation of a group decides for the group. As published, it knows neither memory nor that
// transfers wait for each other.
Placement Heft(const Graph& graph, const DeviceSet& devices, const Simulator& simulator);

}  // namespace shoal::placement
