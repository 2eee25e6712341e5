// SPDX-License-Identifier: Apache-2.0
// `shoal presets`: the presets that ship, and the settings of one.
#pragma once

#include <CLI/App.hpp>
#include <functional>
#include <string>

#include "platform/runtime/status.h"

namespace shoal::cli {

// Returns what the command prints: the preset `name`, or with an empty one all of them. `data` is
// the folder that holds presets/. The errors are those of LoadPreset.
absl::StatusOr<std::string> DescribePresets(const std::string& name, const std::string& data);

// Adds the subcommand to `app`. When it is parsed, it sets `action`, which returns the exit code.
void AddPresets(CLI::App& app, std::function<int()>& action);

}  // namespace shoal::cli
