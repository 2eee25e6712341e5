// SPDX-License-Identifier: Apache-2.0
// Draws a schedule as inline SVG: one lane for each device and each channel that was used, time
// from left to right, forward, backward and update operations and transfers in different colours.
#pragma once

#include <string>

#include "placement/device_set.h"
#include "placement/graph.h"
#include "placement/simulator.h"

namespace shoal::placement {

// Draws the latest Run of `simulator`, which took `seconds`. What is nearer than a pixel is drawn
// as one, so that the size does not grow with the graph; the others have a title with their
// operation. REQUIRES: the arguments belong together, and there was a Run.
std::string DrawSchedule(const Graph& graph, const DeviceSet& devices, const Placement& placement,
                         const Simulator& simulator, double seconds);

}  // namespace shoal::placement
