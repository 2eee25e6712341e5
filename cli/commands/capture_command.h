// SPDX-License-Identifier: Apache-2.0
// `shoal capture verify|diff|redact|import|pack|show`: commands that work on a recorded service.
//
// Exit codes are 0 for success, 1 when verify finds a fault, diff finds a difference, or something
// failed, and 2 for wrong usage or input.
#pragma once

#include <CLI/App.hpp>
#include <functional>

namespace shoal::cli {

// Adds the subcommands to `app`. Parsing one sets `action` to a function that runs it and returns
// the exit code.
void AddCapture(CLI::App& app, std::function<int()>& action);

}  // namespace shoal::cli
