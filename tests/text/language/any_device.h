// SPDX-License-Identifier: Apache-2.0
// The device of a test that runs on each of those that there are.
#pragma once

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/rl/model/devices.h"

namespace shoal::language {

inline std::string AnyDevice() {
  std::vector<std::string> names;
  for (const model::ComputeDevice& device : model::BatchDevices()) names.push_back(device.name);
  return GENERATE_COPY(from_range(names));
}

}  // namespace shoal::language
