// SPDX-License-Identifier: Apache-2.0
// `shoal doctor`: asks every process of a cluster and says in plain sentences who is down, and who
// waits for whom and why.
#pragma once

#include <CLI/App.hpp>
#include <functional>

namespace shoal::cli {

// Adds the subcommand to `app`. Parsing it sets `action` to a function that runs it and returns the
// exit code: 0 the cluster is healthy, 1 something blocks, 2 it cannot tell, because the cluster
// file cannot be read or nobody answers.
void AddDoctor(CLI::App& app, std::function<int()>& action);

}  // namespace shoal::cli
