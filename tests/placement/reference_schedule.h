// SPDX-License-Identifier: Apache-2.0
// The schedule of placement/simulator.h once more, as its contract reads, without regard to speed:
// every moment, everything is looked through.
#pragma once

#include <vector>

#include "placement/device_set.h"
#include "placement/graph.h"
#include "placement/simulator.h"

namespace shoal::placement {

struct ReferenceSchedule {
  double seconds = 0;
  double excess = 0;
  std::vector<OperationRun> runs;
  std::vector<Transfer> transfers;
  std::vector<double> peak_bytes;
};

// `by_priority` are the operations from the highest priority to the lowest.
ReferenceSchedule ScheduleByReference(const Graph& graph, const DeviceSet& devices,
                                      const Placement& placement,
                                      const std::vector<std::size_t>& by_priority);

// The seconds of an operation on a device.
double ReferenceSeconds(const Operation& operation, const Device& device);

// The upward rank of each operation.
std::vector<double> ReferenceRanks(const Graph& graph, const DeviceSet& devices);

}  // namespace shoal::placement
