// SPDX-License-Identifier: Apache-2.0
#include "cli/cluster/inference_devices.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_split.h>

#include <set>
#include <string>

namespace shoal::cli {

InferenceDevices InferenceDevices::Of(std::string_view names, std::int64_t gpus) {
  if (names == "cuda:*") return {.replicas = gpus, .devices = gpus};
  std::int64_t replicas = 0;
  std::set<std::string> devices;
  const std::string list(names);
  for (const absl::string_view entry : absl::StrSplit(list, ',')) {
    ++replicas;
    devices.emplace(absl::StripAsciiWhitespace(entry));
  }
  return {.replicas = replicas, .devices = static_cast<std::int64_t>(devices.size())};
}

}  // namespace shoal::cli
