// SPDX-License-Identifier: Apache-2.0
// Which of a service's candidates a request is: the way from what an expert sends to what an agent
// chooses.
#pragma once

#include <cstdint>
#include <span>

#include "redfish/catalog/candidate.h"
#include "redfish/goals/plan.h"

namespace shoal::redfish {

// Index of the first candidate with the request's method, canonical URI and body, slots bound to
// `values`; a missing body is an empty object. -1 when there is none. A slot without a value of its
// type in `values` makes a candidate unfit: what it would send is chance.
std::int64_t FindCandidate(std::span<const Candidate> candidates, const PlanRequest& request,
                           const SlotValues& values);
std::int64_t FindCandidate(std::span<const Candidate* const> candidates, const PlanRequest& request,
                           const SlotValues& values);

// Index of `wait`; -1 when there is none.
std::int64_t FindWait(std::span<const Candidate> candidates);

}  // namespace shoal::redfish
