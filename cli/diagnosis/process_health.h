// SPDX-License-Identifier: Apache-2.0
// Asks one process whether it is up and serving.
#pragma once

#include <string>

#include "platform/runtime/clock.h"
#include "platform/runtime/status.h"

namespace shoal::cli {

// Asks the gRPC health service at "host:port" or "unix:PATH", or expects status 200 from a GET of
// "http://host:port/path". Blocks at most `timeout`. Returns OK when the process is serving,
// otherwise UNAVAILABLE or DEADLINE_EXCEEDED.
absl::Status CheckAddress(const std::string& address, runtime::Duration timeout);

}  // namespace shoal::cli
