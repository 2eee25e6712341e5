// SPDX-License-Identifier: Apache-2.0
// Goals that a larger goal is the conjunction of.
//
// It takes over their places, parameters, slots, readings, choices, conditions, milestones, starts
// and side-effect budgets. Phrasings, the plan, resets and what may be left over are its own.
#pragma once

#include <memory>
#include <vector>

#include "platform/runtime/status.h"
#include "redfish/goals/goal_definition.h"
#include "redfish/goals/situation.h"

namespace shoal::redfish {

using GoalPart = std::unique_ptr<const Goal::Definition>;

// What both have is taken once. INVALID_ARGUMENT naming what means two things under one name; for a
// part that has targets, orders, or choices beside those of another part.
absl::Status AddPart(const Goal::Definition& part, Goal::Definition& whole);

// Puts the starts of the parts' situations that `situation` is of, in the order of `parts`, before
// its own; it is possible where all of them are. INVALID_ARGUMENT unless it names one of each part.
absl::Status AddStarts(const std::vector<GoalPart>& parts, Situation& situation);

}  // namespace shoal::redfish
