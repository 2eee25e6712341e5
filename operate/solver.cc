// SPDX-License-Identifier: Apache-2.0
#include "operate/solver.h"

#include "redfish/goals/plan.h"

namespace shoal::operate {

absl::Status ExpertSolver::Solve(const redfish::AppliedGoal& goal, const redfish::Episode& episode,
                                 Twin& twin) {
  const redfish::Plan plan = goal.PlanOf(episode);
  if (plan.empty()) {
    return runtime::FailedPrecondition("goal " + goal.goal().name() + " has no plan");
  }
  return redfish::RunPlan(plan, twin).status();
}

}  // namespace shoal::operate
