// SPDX-License-Identifier: Apache-2.0
// The flags of `encoder train`.
#pragma once

#include "encoder/tokenizer_commands.h"

namespace shoal::encoder {

// Adds `train` to `app`, which sets `action` as in AddTokenizerCommands. `--world-size` is only
// described here: the caller has read it and forked the ranks already (collectives::WorldSizeFlag).
void AddPretrainingCommand(CLI::App& app, Action& action);

}  // namespace shoal::encoder
