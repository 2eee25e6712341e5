// SPDX-License-Identifier: Apache-2.0
// The flags of `encoder train`.
#pragma once

#include "encoder/tokenizer_commands.h"
#include "rl/collectives/launch.h"

namespace shoal::encoder {

// Adds `train` to `app`, which sets `action` as in AddTokenizerCommands. The flags of LaunchFlags
// (rl/collectives/launch.h), such as `--world-size`, are only described here: the caller has read
// them as `launch` and forked the ranks already. A group that was started again goes on from its
// latest checkpoint.
void AddPretrainingCommand(CLI::App& app, const collectives::LaunchOptions& launch,
                           const collectives::Launched& launched, Action& action);

}  // namespace shoal::encoder
