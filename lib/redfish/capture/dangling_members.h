// SPDX-License-Identifier: Apache-2.0
// Members that collections list and nothing is recorded of: a GET of one is a 404.
#pragma once

#include <string>
#include <vector>

#include "redfish/capture/capture.h"

namespace shoal::redfish {

// Returns their URIs, as often as they are listed. A member whose body stands in the collection
// itself does not dangle.
std::vector<std::string> DanglingMembers(const Capture::Resources& resources);

}  // namespace shoal::redfish
