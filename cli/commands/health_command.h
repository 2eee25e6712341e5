// SPDX-License-Identifier: Apache-2.0
// `shoal health ADDRESS`: asks whether a process of the cluster is up and serving.
#pragma once

#include <CLI/App.hpp>
#include <functional>
#include <string>

#include "platform/runtime/clock.h"
#include "platform/runtime/status.h"

namespace shoal::cli {

// Asks the gRPC health service at "host:port", or expects status 200 from a GET of
// "http://host:port/path". Blocks at most `timeout`. Returns OK when the process is serving,
// otherwise UNAVAILABLE or DEADLINE_EXCEEDED.
absl::Status CheckAddress(const std::string& address, runtime::Duration timeout);

// Adds the subcommand to `app`. Parsing it sets `action` to a function that runs it and returns the
// exit code, which is `failed` for every error.
void AddHealth(CLI::App& app, std::function<int()>& action);

}  // namespace shoal::cli
