// SPDX-License-Identifier: Apache-2.0
// The flags of `encoder dataset`.
#pragma once

#include <CLI/CLI.hpp>

#include "encoder/action.h"

namespace shoal::encoder {

// Adds `dataset` with its commands to `app`. Parsing one sets `action`. `app` and `action` must
// outlive the parsing and the call of `action`. Progress goes to standard error.
void AddDatasetCommands(CLI::App& app, Action& action);

}  // namespace shoal::encoder
