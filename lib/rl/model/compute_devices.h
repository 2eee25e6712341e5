// SPDX-License-Identifier: Apache-2.0
// Finds the devices that a list of names means, for code that sees no torch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "platform/runtime/status.h"
#include "rl/model/compute_device.h"

namespace shoal::model {

inline constexpr std::size_t kMaxComputeDevices = 64;

// Returns the devices that `names` means, in its order: what FindComputeDevice finds, "cuda:*",
// which is all GPUs that CUDA shows to this process, or a list with commas of up to
// kMaxComputeDevices times cpu and cuda:<n>. A list may name a device several times. Returns
// INVALID_ARGUMENT, which names the entry, for a list with anything else, and otherwise the errors
// of FindComputeDevice.
absl::StatusOr<std::vector<ComputeDevice>> FindComputeDevices(const std::string& names,
                                                              std::int64_t local_rank = 0);

}  // namespace shoal::model
