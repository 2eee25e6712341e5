// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/reward.h"

#include <algorithm>
#include <bit>

namespace shoal::actor {
namespace {

Verdict JudgeIgc(const StepOutcome& outcome) {
  const int status = outcome.status;
  double reward = 0;
  bool ends = outcome.last;
  if (status >= 200 && status < 300) reward += 0.1;
  if (status == 405) {
    reward -= 0.1;
  } else if (status >= 400 && status < 500) {
    reward -= 0.2;
  }
  if (status >= 500) {
    reward -= 0.5;
    ends = true;
  }
  if (outcome.after.satisfied) {
    reward += 1;
    ends = true;
  } else if (outcome.last) {
    reward -= 1;
  }
  return {.reward = static_cast<float>(std::clamp(reward, -1.0, 1.0)), .ends = ends};
}

}  // namespace

Verdict Judge(const RewardOptions& options, const StepOutcome& outcome) {
  if (options.preset == "igc") return JudgeIgc(outcome);
  double reward = options.step;
  if (outcome.status >= 400 && outcome.status < 500) reward += options.client_error;
  if (outcome.repeated) reward += options.repeated_read;
  if (outcome.milestone_count > 0) {
    const int reached = std::popcount(outcome.after.milestones & ~outcome.before.milestones);
    reward += options.milestones * reached / static_cast<double>(outcome.milestone_count);
  }
  reward += options.collateral *
            static_cast<double>(outcome.after.collateral - outcome.before.collateral);
  if (outcome.after.satisfied) {
    reward += outcome.after.collateral == 0 ? options.goal : options.goal_with_collateral;
  }
  return {.reward = static_cast<float>(reward), .ends = outcome.after.satisfied || outcome.last};
}

}  // namespace shoal::actor
