// SPDX-License-Identifier: Apache-2.0
// Plans an operation: it builds the twin of a host, solves the wanted goals there, and announces
// what would be done.
//
// The twin starts from a capture of the host. Everything that the solution reads or changes is read
// from the host again, and where that differs from the capture, the goals are solved anew. So a
// capture may be older than the host's state. The goals themselves refer to the capture: accounts
// and sessions that it holds are those that belong there.
//
// Several goals are solved one after the other, each from where the one before it ended. One that a
// later goal has undone is solved once more at the end. Then what they do without is left out
// (shortening.h), such as all restarts but one. A goal of which only some targets are wanted
// is solved as a whole, and the requests for the others are left out. Reads only. Not thread-safe.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "operate/announcement.h"
#include "operate/goal_choice.h"
#include "operate/host.h"
#include "operate/solver.h"
#include "platform/runtime/status.h"
#include "redfish/capture/capture.h"
#include "redfish/goals/goal.h"
#include "redfish/goals/situation.h"
#include "redfish/schema/schema.h"

namespace shoal::operate {

class Planner {
 public:
  // `solver` outlives this object.
  Planner(std::shared_ptr<const redfish::Schema> schema, redfish::GoalSuite suite, Solver& solver)
      : schema_(std::move(schema)), suite_(std::move(suite)), solver_(solver) {}

  // The announcement has no steps when the host already is as wanted. NOT_FOUND: a goal is unknown
  // or does not apply to the capture. INVALID_ARGUMENT: values are wrong. FAILED_PRECONDITION: the
  // twin does not reach a goal, or not all goals together. Other errors are those of the host.
  absl::StatusOr<Announcement> Plan(Host& host, const redfish::Capture& capture, const Wish& wish);

 private:
  // A goal of the wish on the capture.
  struct Stage {
    std::shared_ptr<const redfish::AppliedGoal> goal;
    redfish::Episode episode;
    // The goal, or its wanted targets alone.
    redfish::Predicate wanted;
    bool is_whole = true;
  };
  absl::StatusOr<std::vector<Stage>> StagesOf(const redfish::Capture& capture,
                                              const Wish& wish) const;
  absl::StatusOr<bool> Refresh(Host& host, const std::set<std::string>& uris,
                               std::set<std::string>& fresh,
                               redfish::Capture::Resources& resources);
  absl::Status SolveOn(Twin& twin, const std::vector<Stage>& stages, Announcement& announcement);
  // Leaves out the steps without which all that is wanted holds as well. Where a replay on `trial`,
  // a twin in the host's state, does not reach it, or has side effects, all steps stay.
  static absl::Status LeaveOutNeedless(Twin& trial, const std::vector<Stage>& stages,
                                       Announcement& announcement);
  // Solves a goal from where the twin is, and appends the steps.
  absl::Status Solve(Twin& twin, const Stage& stage, bool is_one_of_several,
                     std::vector<Step>& steps);

  const std::shared_ptr<const redfish::Schema> schema_;
  const redfish::GoalSuite suite_;
  Solver& solver_;
};

}  // namespace shoal::operate
