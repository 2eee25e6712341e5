// SPDX-License-Identifier: Apache-2.0
// Environments of Gymnasium are played by the package python/shoal_gym, which the program actor
// becomes: the same process goes on as Python.
#pragma once

#include <string>
#include <vector>

#include "actor/actor.h"
#include "platform/runtime/status.h"

namespace shoal::actor {

// Returns the interpreter and its arguments, by which the package does what `config` says: trains,
// or evaluates and writes the same file. INVALID_ARGUMENT, which names the knob, for an environment
// without a name, for what Actor::Check refuses, and for what the package cannot do.
absl::StatusOr<std::vector<std::string>> GymnasiumCommand(const ActorConfig& config);

// Replaces this process by that command, with signals as a program expects them, and returns only
// where that fails: INVALID_ARGUMENT as above, and NOT_FOUND without the interpreter. Where the
// interpreter lacks the package, the process ends with runtime::kExitPermanent and a last line that
// says how to install it. Python imports nothing from the working directory.
absl::Status BecomeGymnasiumActor(const ActorConfig& config);

}  // namespace shoal::actor
