// SPDX-License-Identifier: Apache-2.0
// `shoal capture verify|diff|redact|import|pack|show`: what can be done with a recorded service.
//
// Exit codes: 0; 1 when verify finds a fault, diff a difference, or something failed; 2 for wrong
// usage or input.
#pragma once

#include <CLI/App.hpp>
#include <functional>

namespace shoal::cli {

// Adds the subcommands to `app`; of the one that is typed, `action` becomes what runs it and
// returns the exit code.
void AddCapture(CLI::App& app, std::function<int()>& action);

}  // namespace shoal::cli
