// SPDX-License-Identifier: Apache-2.0
// Plans an operation: it builds the twin of a host, solves the goal there, and announces what would
// be done.
//
// The twin starts from a capture of the host. Everything that the solution reads or changes is read
// from the host again, and where that differs from the capture, the goal is solved anew. So a
// capture may be older than the host's state. The goal itself refers to the capture: accounts and
// sessions that it holds are those that belong there. Reads only. Not thread-safe.
#pragma once

#include <memory>

#include "operate/announcement.h"
#include "operate/goal_choice.h"
#include "operate/host.h"
#include "operate/solver.h"
#include "platform/runtime/status.h"
#include "redfish/capture/capture.h"
#include "redfish/goals/goal.h"
#include "redfish/schema/schema.h"

namespace shoal::operate {

class Planner {
 public:
  // `solver` outlives this object.
  Planner(std::shared_ptr<const redfish::Schema> schema, redfish::GoalSuite suite, Solver& solver)
      : schema_(std::move(schema)), suite_(std::move(suite)), solver_(solver) {}

  // The announcement has no steps when the host already is as wanted. NOT_FOUND: the goal is
  // unknown or does not apply to the capture. INVALID_ARGUMENT: its values are wrong.
  // FAILED_PRECONDITION: the twin does not reach the goal. Other errors are those of the host.
  absl::StatusOr<Announcement> Plan(Host& host, const redfish::Capture& capture,
                                    const GoalChoice& choice);

 private:
  absl::StatusOr<bool> Refresh(Host& host, const std::set<std::string>& uris,
                               std::set<std::string>& fresh,
                               redfish::Capture::Resources& resources);
  absl::Status SolveOn(Twin& twin, const redfish::AppliedGoal& goal,
                       const redfish::Episode& episode, Announcement& announcement);

  const std::shared_ptr<const redfish::Schema> schema_;
  const redfish::GoalSuite suite_;
  Solver& solver_;
};

}  // namespace shoal::operate
