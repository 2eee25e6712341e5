// SPDX-License-Identifier: Apache-2.0
// Tells whether an error mentions something.
#pragma once

#include <absl/status/status.h>

#include <string>

namespace shoal::redfish {

inline bool Mentions(const absl::Status& status, const std::string& part) {
  return std::string(status.message()).find(part) != std::string::npos;
}

}  // namespace shoal::redfish
