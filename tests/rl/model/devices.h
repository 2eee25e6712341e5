// SPDX-License-Identifier: Apache-2.0
// The devices on which tests of whole batches run: the CPU, and the GPU where there is one.
#pragma once

#include <vector>

#include "rl/model/compute_device.h"

namespace shoal::model {

inline std::vector<ComputeDevice> BatchDevices() {
  std::vector<ComputeDevice> devices = {{.name = "cpu", .whole_batches = true}};
  const auto gpu = FindComputeDevice("cuda");
  if (gpu.ok()) devices.push_back(*gpu);
  return devices;
}

}  // namespace shoal::model
