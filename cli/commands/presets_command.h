// SPDX-License-Identifier: Apache-2.0
// `shoal presets`: the presets that ship, and the settings of one.
#pragma once

#include <CLI/App.hpp>
#include <functional>

namespace shoal::cli {

// Adds the subcommand to `app`. When it is parsed, it sets `action`, which returns the exit code.
void AddPresets(CLI::App& app, std::function<int()>& action);

}  // namespace shoal::cli
