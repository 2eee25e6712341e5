// SPDX-License-Identifier: Apache-2.0
// The devices on which tests of whole batches run: the CPU, and the GPU where there is one
// (gpu_left_out.h).
#pragma once

#include <vector>

#include "platform/runtime/status.h"
#include "rl/model/compute_device.h"
#include "tests/doubles/gpu_left_out.h"

namespace shoal::model {

inline const std::vector<ComputeDevice>& BatchDevices() {
  static const std::vector<ComputeDevice> devices = [] {
    std::vector<ComputeDevice> found = {{.name = "cpu", .whole_batches = true}};
    const auto gpu = FindComputeDevice("cuda");
    if (gpu.ok()) {
      found.push_back(*gpu);
    } else {
      doubles::LeaveOutGpu(runtime::Message(gpu.status()));
    }
    return found;
  }();
  return devices;
}

// The same devices for policies that act, without recorded forward passes and with them.
inline std::vector<ComputeDevice> ActingDevices() {
  std::vector<ComputeDevice> devices;
  for (ComputeDevice device : BatchDevices()) {
    for (const bool graphs : {false, true}) {
      device.graphs = graphs;
      devices.push_back(device);
    }
  }
  return devices;
}

// The GPU has to be looked for before a test first uses torch, which remembers what it found.
inline const bool kGpuFound = FindComputeDevice("cuda").ok();

}  // namespace shoal::model
