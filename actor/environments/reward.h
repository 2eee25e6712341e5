// SPDX-License-Identifier: Apache-2.0
// The reward of a step, as a pure function of the step's outcome.
#pragma once

#include <cstdint>

#include "actor/environments/environment_options.h"
#include "actor/environments/redfish_service.h"

namespace shoal::actor {

struct StepOutcome {
  // 0 for a step without a request.
  int status = 0;
  redfish::Progress before = {};
  redfish::Progress after = {};
  std::int64_t milestone_count = 0;
  // Whether this is the last step before the episode limit.
  bool last = false;
  // Whether this was a GET that was answered before, with nothing changed and no `wait` since.
  bool repeated = false;
};

struct Verdict {
  float reward = 0;
  // Whether the episode ends with this step.
  bool ends = false;
};

Verdict Judge(const RewardOptions& options, const StepOutcome& outcome);

}  // namespace shoal::actor
