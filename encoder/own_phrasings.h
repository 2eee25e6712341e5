// SPDX-License-Identifier: Apache-2.0
// Sentences of people who have seen no phrasing, by goal: goals ask in these in place of the
// evaluation's phrasings, with values that are drawn as usual.
#pragma once

#include <set>
#include <string>

#include "platform/runtime/status.h"
#include "redfish/goals/goal.h"

namespace shoal::encoder {

struct OwnPhrasings {
  // All goals of the suite that was given; those in `goals` have the file's sentences.
  redfish::GoalSuite suite;
  std::set<std::string> goals;
};

// Reads the TOML file at `path`. Returns the errors of redfish::WithEvaluationPhrasings.
absl::StatusOr<OwnPhrasings> ReadOwnPhrasings(const redfish::GoalSuite& suite,
                                              const std::string& path);

}  // namespace shoal::encoder
