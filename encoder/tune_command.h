// SPDX-License-Identifier: Apache-2.0
// `encoder tune` and its flags: trains an adapter on top of an encoder's vectors (tuning.h).
#pragma once

#include "encoder/action.h"
#include "encoder/tuning.h"

namespace shoal::encoder {

// Adds the flags that say what is learned and how, but neither those of the captures nor --output
// and --seed. `options` must live until the flags are parsed.
void AddTuningFlags(CLI::App& command, TuningOptions& options);

void AddTuneCommand(CLI::App& app, Action& action);

}  // namespace shoal::encoder
