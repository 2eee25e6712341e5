// SPDX-License-Identifier: Apache-2.0
// Whether the processes of a cluster agree on what goes in lock step in deterministic mode.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/cluster/effective_config.h"
#include "platform/runtime/status.h"

namespace shoal::cli {

// Returns the settings that make inference wait for as many unrolls as the learner trains on in an
// update, `round_unrolls` / `lockstep_environments` of each environment. INVALID_ARGUMENT, which
// names the knobs, where a run of `actors` processes would wait for ever or lose its order: where
// that number is not whole, where lockstep_environments are not those of all actors, and where an
// update may publish nothing. Without a queue, and with asynchronous gradients, there are no
// settings: the learner says that deterministic mode is not for them. Call it in deterministic
// mode, with the sections of all programs.
absl::StatusOr<std::vector<std::string>> LockstepSettings(const EffectiveConfig& config,
                                                          std::int64_t actors);

}  // namespace shoal::cli
