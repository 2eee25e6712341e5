// SPDX-License-Identifier: Apache-2.0
#include "cli/cluster/inference_devices.h"

#include <set>
#include <string>
#include <vector>

#include "rl/model/device_names.h"

namespace shoal::cli {

InferenceDevices InferenceDevices::Of(std::string_view names, std::int64_t gpus) {
  if (names == model::kAllGpus) return {.replicas = gpus, .devices = gpus};
  const std::vector<std::string> entries = model::DeviceNames(names);
  const std::set<std::string> devices(entries.begin(), entries.end());
  return {.replicas = static_cast<std::int64_t>(entries.size()),
          .devices = static_cast<std::int64_t>(devices.size())};
}

}  // namespace shoal::cli
