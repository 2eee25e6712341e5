// SPDX-License-Identifier: Apache-2.0
// The flags of `encoder tokenizer`.
#pragma once

#include <CLI/CLI.hpp>

#include "encoder/action.h"

namespace shoal::encoder {

// Adds `tokenizer` with its commands to `app`. Parsing one sets `action`. `app` and `action` must
// outlive the parsing and the call of `action`.
void AddTokenizerCommands(CLI::App& app, Action& action);

}  // namespace shoal::encoder
