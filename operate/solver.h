// SPDX-License-Identifier: Apache-2.0
// Whatever finds the requests that reach a goal: it acts on the twin, which notes them.
#pragma once

#include <string>

#include "operate/twin.h"
#include "platform/runtime/status.h"
#include "redfish/goals/goal.h"

namespace shoal::operate {

class Solver {
 public:
  virtual ~Solver() = default;
  // Acts on `twin` until the goal of `episode` is reached there. FAILED_PRECONDITION or UNAVAILABLE
  // saying why it was not.
  virtual absl::Status Solve(const redfish::AppliedGoal& goal, const redfish::Episode& episode,
                             Twin& twin) = 0;
  // Returns how it solves, such as "the expert's plan".
  virtual std::string name() const = 0;
};

// Carries out the plan of the goal's file.
class ExpertSolver final : public Solver {
 public:
  absl::Status Solve(const redfish::AppliedGoal& goal, const redfish::Episode& episode,
                     Twin& twin) override;
  std::string name() const override { return "the expert's plan"; }
};

}  // namespace shoal::operate
