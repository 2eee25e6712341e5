// SPDX-License-Identifier: Apache-2.0
// Free TCP ports of 127.0.0.1 for a local cluster.
#pragma once

#include <string>
#include <vector>

#include "platform/runtime/status.h"

namespace shoal::cli {

// `count` different addresses "127.0.0.1:PORT" that nobody listens on. They lie below the range
// that the kernel gives to outgoing connections, so that a process which is started again finds its
// port free. RESOURCE_EXHAUSTED when there are not that many.
absl::StatusOr<std::vector<std::string>> FreeLoopbackAddresses(int count);

}  // namespace shoal::cli
