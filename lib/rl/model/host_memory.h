// SPDX-License-Identifier: Apache-2.0
// The host's memory from which a device copies fastest, for code that sees no torch.
#pragma once

#include <memory_resource>

#include "rl/model/compute_device.h"

namespace shoal::model {

// Returns where what goes to `device` in large pieces should lie. For a GPU it is memory that the
// system never moves (pinned), which the GPU reads by itself at the full speed of its bus; it is
// returned to torch's cache of such memory, not to the system. Where the system gives no more of
// it, and for a CPU, it is the default resource's. It lives as long as the process and is
// thread-safe. REQUIRES: the device exists.
std::pmr::memory_resource* HostMemoryFor(const ComputeDevice& device);

}  // namespace shoal::model
