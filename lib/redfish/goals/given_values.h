// SPDX-License-Identifier: Apache-2.0
// The values of an episode that somebody gives, instead of drawing them: those that the goal has on
// a capture, completed by what follows from the given ones.
#pragma once

#include "platform/runtime/status.h"
#include "redfish/goals/goal.h"
#include "redfish/goals/goal_binding.h"
#include "redfish/goals/situation.h"

namespace shoal::redfish {

// Returns all values of an episode of the goal in which `given` are set: values of parameters and
// slots, orders or their first elements ("BootOrder:first"), and enough of a choice to tell it from
// the others. Parameters that are not given are left out. Returns INVALID_ARGUMENT naming the goal
// and the value when one is of the wrong type, fits no choice, leaves a choice open, or is none of
// the goal's.
absl::StatusOr<Values> ValuesFrom(const AppliedGoal::Binding& binding, Values given);

// Adds an order for each first element of one in `values`: "BootOrder" for a "BootOrder:first".
// Returns INVALID_ARGUMENT when the capture's order has no such element.
absl::Status AddOrders(const AppliedGoal::Binding& binding, Values& values);

}  // namespace shoal::redfish
