// SPDX-License-Identifier: Apache-2.0
// Whether the processes of a cluster agree on what goes in lock step in deterministic mode.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/cluster/effective_config.h"
#include "platform/runtime/status.h"

namespace shoal::cli {

// Returns the settings by which inference and learner take turns. Where the first table is a queue,
// inference waits for as many unrolls as the learner trains on in an update, `round_unrolls` /
// `lockstep_environments` of each environment. Where it is sampled, a version comes after as many
// updates as the unrolls of a round earn by samples_per_insert; each environment delivers the
// fewest with which that number is whole, and in the first round so many that the table has its
// min_size. INVALID_ARGUMENT, which names the knobs, where a run of `actors` processes would wait
// for ever or lose its order: where these numbers are not whole, where lockstep_environments are
// not those of all actors, where an update from a queue may publish nothing, and where a table that
// is sampled loses items for another reason than room. With asynchronous gradients there are no
// settings: the learner says that deterministic mode is not for them. Call it in deterministic
// mode, with the sections of all programs.
absl::StatusOr<std::vector<std::string>> LockstepSettings(const EffectiveConfig& config,
                                                          std::int64_t actors);

}  // namespace shoal::cli
