// SPDX-License-Identifier: Apache-2.0
// Members that collections list although nothing was recorded of them: a GET of one is a 404.
#pragma once

#include <string>
#include <vector>

#include "redfish/capture/capture.h"

namespace shoal::redfish {

// Returns the URI of each such member once for each time it is listed. A member whose body stands
// in the collection itself does not dangle.
std::vector<std::string> DanglingMembers(const Capture::Resources& resources);

}  // namespace shoal::redfish
