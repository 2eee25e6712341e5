// SPDX-License-Identifier: Apache-2.0
// The names in a list of devices, as inference.device and --device of `shoal train` take it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace shoal::model {

// Means all GPUs that CUDA shows to a process, so only where that runs is known how many they are.
inline constexpr std::string_view kAllGpus = "cuda:*";

// Returns the entries of a list with commas, without the blanks around them, in its order. What
// they mean is not checked here: FindComputeDevices does so where the devices are.
std::vector<std::string> DeviceNames(std::string_view list);

}  // namespace shoal::model
