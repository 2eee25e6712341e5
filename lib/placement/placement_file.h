// SPDX-License-Identifier: Apache-2.0
// Placements as JSON files: the member "placement" of what `shoal place --save` writes, which has
// the name of a device for the name of each group. Other members are ignored.
//
// Thread-safe. Files are not trusted.
#pragma once

#include <string>
#include <string_view>

#include "placement/device_set.h"
#include "placement/graph.h"

namespace shoal::placement {

// INVALID_ARGUMENT naming the group that has no device or does not exist, or the device that does
// not exist.
absl::StatusOr<Placement> ParsePlacement(std::string_view text, const Graph& graph,
                                         const DeviceSet& devices);

// Reads the file `path`. Errors name it; NOT_FOUND when it is missing.
absl::StatusOr<Placement> LoadPlacement(const std::string& path, const Graph& graph,
                                        const DeviceSet& devices);

}  // namespace shoal::placement
