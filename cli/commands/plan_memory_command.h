// SPDX-License-Identifier: Apache-2.0
// `shoal plan-memory`: what the processes of a cluster file take of memory, before any is started.
//
// The learner program itself says what its updates take, so the numbers are those of the network
// that it would build. Everything else is a limit that the file sets. What programs and their
// libraries take by themselves is not counted.
#pragma once

#include <CLI/App.hpp>
#include <functional>

namespace shoal::cli {

// Adds the subcommand to `app`. When it is parsed, it sets `action`, which returns the exit code:
// kExitFailed where the cluster does not fit.
void AddPlanMemory(CLI::App& app, std::function<int()>& action);

}  // namespace shoal::cli
