// SPDX-License-Identifier: Apache-2.0
// The requests of an expert in an episode, found without a service: its plan runs against the
// capture in memory.
//
// The memory shows what an expert needs to see: a PATCH merges its body, a POST to a collection
// makes a member, a DELETE removes a resource, and an action changes nothing. Waiting is left out.
// So a request that only the effect of an action would call for may be missing.
#pragma once

#include <vector>

#include "platform/runtime/status.h"
#include "redfish/capture/capture.h"
#include "redfish/catalog/candidate.h"
#include "redfish/goals/goal.h"
#include "redfish/goals/plan.h"

namespace shoal::encoder {

// Returns the requests other than GETs, with canonical URIs, in order, up to the first one that the
// memory cannot answer. Returns the errors of redfish::CheckPlan.
absl::StatusOr<std::vector<redfish::PlanRequest>> ExpertRequests(const redfish::Capture& capture,
                                                                 const redfish::AppliedGoal& goal,
                                                                 const redfish::Episode& episode);

// Returns the requests of all shortest ways that the goal's plan knows: those of ExpertRequests,
// and where a step may choose between parameters ("one_of"), those of each choice that the service
// allows. The order is that of the ways; a request may repeat. The errors are the same.
absl::StatusOr<std::vector<redfish::PlanRequest>> RequestsOnTheWay(const redfish::Capture& capture,
                                                                   const redfish::AppliedGoal& goal,
                                                                   const redfish::Episode& episode);

// Returns whether `candidate` is the request that `asked` is, or one like it: the same method and
// URI, and a body with all values of `asked`, a slot standing for any value. A POST may have more
// parameters than `asked`. REQUIRES: the URI of `asked` is canonical.
bool IsLike(const redfish::Candidate& candidate, const redfish::PlanRequest& asked);

}  // namespace shoal::encoder
