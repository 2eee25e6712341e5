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

// The groups in topological order are cut into as many runs as there are `devices`, so that each
// takes about the same time, and run i goes to device i. A group goes to the run in which the
// middle of its time lies.
Placement SplitEvenly(const GroupGraph& groups, const std::vector<std::size_t>& devices);

// What an expert does by hand: whole layers in topological order are cut into runs of about the
// same time, and run i goes to device i, as the expert of Mirhoseini et al., "Device placement
// optimization with reinforcement learning", ICML 2017, gives each recurrent layer a device. A
// layer is what the names of groups have before their last slash, so that a layer that is unrolled
// over time stays whole, which SplitEvenly cuts. A run takes layers until the next one would bring
// it further from its share of the time that is left.
Placement SplitByLayer(const Graph& graph, const GroupGraph& groups,
                       const std::vector<std::size_t>& devices);

// HEFT (Topcuoglu, Hariri and Wu, IEEE TPDS 13(3), 2002): operations in the order of their upward
// rank go to the device where each finishes first, in a gap of its schedule if there is one. The
// first operation of a group decides for the group. As published, it knows neither memory nor that
// transfers wait for each other. An operation looks at kHeftGaps gaps from the time at which its
// inputs are there, and otherwise goes behind all that the device has, so that a million operations
// take seconds.
inline constexpr std::size_t kHeftGaps = 128;
Placement Heft(const Graph& graph, const DeviceSet& devices, const Simulator& simulator);

}  // namespace shoal::placement
