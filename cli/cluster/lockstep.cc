// SPDX-License-Identifier: Apache-2.0
#include "cli/cluster/lockstep.h"

#include <absl/strings/str_format.h>

namespace shoal::cli {

absl::StatusOr<std::vector<std::string>> LockstepSettings(const EffectiveConfig& config,
                                                          std::int64_t actors) {
  const auto number = [&config](const char* knob) { return config.Integer(knob).value_or(0); };
  // The learner refuses both, whatever the numbers are.
  if (config.Text("learner.gradients") == "asynchronous" ||
      config.Text("replay.table[0].sampler") != "fifo") {
    return std::vector<std::string>();
  }
  const std::int64_t environments = number("inference.lockstep_environments");
  const std::int64_t round = number("learner.round_unrolls");
  const std::int64_t played = actors * number("actor.environments");
  if (environments != played) {
    return runtime::InvalidArgument(absl::StrFormat(
        "run.deterministic needs inference.lockstep_environments = %d, the actor.environments of "
        "all actors; it is %d",
        played, environments));
  }
  if (environments < 1 || round % environments != 0) {
    return runtime::InvalidArgument(absl::StrFormat(
        "run.deterministic needs a learner.round_unrolls that inference.lockstep_environments "
        "divides: %d and %d",
        round, environments));
  }
  if (number("learner.publish_every_updates") != 1) {
    return runtime::InvalidArgument(
        "run.deterministic needs learner.publish_every_updates = 1: each round waits for the "
        "version after it");
  }
  return std::vector<std::string>{
      absl::StrFormat("inference.lockstep_unrolls=%d", round / environments)};
}

}  // namespace shoal::cli
