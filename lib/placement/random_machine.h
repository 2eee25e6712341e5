// SPDX-License-Identifier: Apache-2.0
// Random sets of devices, to train on: two to eight accelerators of a machine, and perhaps its
// processor, around the numbers of data/placement/devices/.
//
// In half of the sets all accelerators are equal. In a quarter the graph does not fit on one of
// them. Pure functions of the draws.
#pragma once

#include "placement/device_set.h"
#include "placement/graph.h"
#include "platform/runtime/random.h"

namespace shoal::placement {

// The most devices of a random set.
inline constexpr std::size_t kMostMachineDevices = 9;

DeviceSet RandomMachine(runtime::Random& random, const Graph& graph);

}  // namespace shoal::placement
