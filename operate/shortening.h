// SPDX-License-Identifier: Apache-2.0
// Leaves out the requests of a solution that the goal does without.
//
// A policy may send a request that is refused, or one that another makes needless. None of these
// should reach a host.
#pragma once

#include <vector>

#include "operate/step.h"
#include "operate/twin.h"
#include "platform/runtime/status.h"
#include "redfish/goals/predicate.h"

namespace shoal::operate {

// Returns those of `steps` after which `wanted` holds and of which none can be left out, and leaves
// the twin where they lead. Steps are tried from the last to the first, so of two that do the same
// the first stays. FAILED_PRECONDITION when `wanted` does not hold after a replay of all.
absl::StatusOr<std::vector<Step>> Shorten(std::vector<Step> steps, const redfish::Predicate& wanted,
                                          Twin& twin);

}  // namespace shoal::operate
