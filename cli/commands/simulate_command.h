// SPDX-License-Identifier: Apache-2.0
// `shoal simulate`: how fast a cluster would be, and what would limit it, before there are machines
// for it.
//
// The number of processes, batches and limits are those of a cluster file. What operations cost was
// measured in a run, or stands in a file.
#pragma once

#include <CLI/App.hpp>
#include <functional>

namespace shoal::cli {

// Adds the subcommand to `app`. When it is parsed, it sets `action`, which returns the exit code.
void AddSimulate(CLI::App& app, std::function<int()>& action);

}  // namespace shoal::cli
