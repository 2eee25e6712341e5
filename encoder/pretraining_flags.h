// SPDX-License-Identifier: Apache-2.0
// The flags of `encoder train`.
#pragma once

#include "encoder/tokenizer_flags.h"

namespace shoal::encoder {

// Adds `train` to `app`, which sets `action`; as AddTokenizerCommands. `--world-size` is only told
// about: whoever calls has forked the ranks by it (collectives::WorldSizeFlag).
void AddPretrainingCommand(CLI::App& app, Action& action);

}  // namespace shoal::encoder
