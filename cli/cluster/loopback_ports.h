// SPDX-License-Identifier: Apache-2.0
// Free TCP ports on 127.0.0.1 for a local cluster.
#pragma once

#include <string>
#include <vector>

#include "platform/runtime/status.h"

namespace shoal::cli {

// Returns `count` different addresses "127.0.0.1:PORT" on which nobody listens. The ports lie below
// the range that the kernel gives to outgoing connections, so that a process that is started again
// finds its port free. Returns RESOURCE_EXHAUSTED when there are not enough.
absl::StatusOr<std::vector<std::string>> FreeLoopbackAddresses(int count);

}  // namespace shoal::cli
