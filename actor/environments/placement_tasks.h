// SPDX-License-Identifier: Apache-2.0
// The graphs and devices that episodes of placement draw from.
//
// Immutable once loaded, and thread-safe to read.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "actor/environments/placement_options.h"
#include "placement/device_set.h"
#include "placement/graph.h"
#include "platform/runtime/random.h"
#include "platform/runtime/status.h"

namespace shoal::actor {

struct PlacementTask {
  placement::Graph graph;
  placement::DeviceSet devices;
};

struct PlacementTasks {
  // Only the sizes of random networks and the choices are read.
  PlacementOptions options;
  // Those of the options' files. Where there are none, episodes draw random ones.
  std::vector<placement::Graph> graphs;
  std::vector<placement::DeviceSet> devices;

  // Returns the graph and the devices of an episode. RESOURCE_EXHAUSTED when no device has room for
  // a group in any of many draws.
  absl::StatusOr<PlacementTask> Draw(runtime::Random& random) const;
};

// Reads the files. NOT_FOUND or INVALID_ARGUMENT naming the file, or both files where the devices
// of one have no room for a group of the other or are too many; INVALID_ARGUMENT naming the knob
// where the smallest network is larger than the largest.
absl::StatusOr<std::shared_ptr<const PlacementTasks>> LoadPlacementTasks(
    const PlacementOptions& options);

}  // namespace shoal::actor
