// SPDX-License-Identifier: Apache-2.0
// Compares two captures resource by resource and property by property.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "redfish/capture/capture.h"

namespace shoal::redfish {

struct PropertyChange {
  // A JSON Pointer into the resource's body.
  std::string pointer;
  // Each value is null where the property is missing.
  const nlohmann::json* before = nullptr;
  const nlohmann::json* after = nullptr;
};

struct ResourceChange {
  std::string uri;
  std::vector<PropertyChange> properties;
};

// The difference points into the two captures, which must outlive it.
struct CaptureDifference {
  std::vector<std::string> added = {};
  std::vector<std::string> removed = {};
  std::vector<ResourceChange> changed = {};

  bool empty() const { return added.empty() && removed.empty() && changed.empty(); }
};

// Arrays of different length count as one change. With `ignore_volatile`, properties that change
// without a change of the resource (content::DefaultVolatileNames: ETags, clocks) are ignored.
CaptureDifference Compare(const Capture& before, const Capture& after, bool ignore_volatile);

}  // namespace shoal::redfish
