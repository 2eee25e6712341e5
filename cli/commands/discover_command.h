// SPDX-License-Identifier: Apache-2.0
// `shoal discover URL --out FOLDER`: crawls a Redfish service into a capture
// (redfish/discovery/discover.h).
#pragma once

#include <CLI/App.hpp>
#include <functional>

namespace shoal::cli {

// Adds the subcommand to `app`. Parsing it sets `action` to a function that runs it and returns the
// exit code.
void AddDiscover(CLI::App& app, std::function<int()>& action);

}  // namespace shoal::cli
