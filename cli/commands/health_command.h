// SPDX-License-Identifier: Apache-2.0
// `shoal health ADDRESS`: is a process of the cluster up and serving?
#pragma once

#include <CLI/App.hpp>
#include <functional>
#include <string>

#include "platform/runtime/clock.h"
#include "platform/runtime/status.h"

namespace shoal::cli {

// "host:port" asks the gRPC health service there; "http://host:port/path" wants an answer 200 to a
// GET. Blocks at most `timeout`. OK: serving. UNAVAILABLE, DEADLINE_EXCEEDED: not.
absl::Status CheckAddress(const std::string& address, runtime::Duration timeout);

// Adds the subcommand to `app`; when it is the one that is typed, `action` becomes what runs it and
// returns the exit code: failed, whatever is wrong.
void AddHealth(CLI::App& app, std::function<int()>& action);

}  // namespace shoal::cli
