// SPDX-License-Identifier: Apache-2.0
// Small random graphs and sets of devices. Numbers are small and whole, so that many things happen
// at the same time.
#pragma once

#include "placement/device_set.h"
#include "placement/graph.h"
#include "platform/runtime/random.h"

namespace shoal::placement {

Graph RandomGraph(runtime::Random& random, std::size_t most_operations, std::size_t most_groups);
DeviceSet RandomDevices(runtime::Random& random, std::size_t most_devices);
Placement RandomPlacement(runtime::Random& random, std::size_t groups, std::size_t devices);

// Equal devices with `memory_bytes`, one operation a second and one byte a second on a channel of
// each pair.
DeviceSet EqualDevices(std::size_t count, double memory_bytes);

// An operation of a group of its own, which takes `flops` seconds on EqualDevices. It reads the
// whole outputs of `inputs`.
void AddOperation(Graph& graph, double flops, double activation_bytes,
                  const std::vector<std::size_t>& inputs);

}  // namespace shoal::placement
