// SPDX-License-Identifier: Apache-2.0
// `shoal health ADDRESS`: asks whether a process of the cluster is up and serving.
#pragma once

#include <CLI/App.hpp>
#include <functional>

namespace shoal::cli {

// Adds the subcommand to `app`. Parsing it sets `action` to a function that runs it and returns the
// exit code, which is `failed` for every error.
void AddHealth(CLI::App& app, std::function<int()>& action);

}  // namespace shoal::cli
