// SPDX-License-Identifier: Apache-2.0
#include "redfish/goals/candidate_match.h"

#include <algorithm>
#include <string>

#include "redfish/capture/uri.h"

namespace shoal::redfish {
namespace {

using Json = nlohmann::json;

Json OrEmpty(Json body) { return body.is_null() ? Json::object() : body; }

bool Sends(const Candidate& candidate, const Json& body, const SlotValues& values) {
  // Chance alone would have to draw the same value twice for a slot that is not bound.
  runtime::Random first(1);
  runtime::Random second(2);
  const Json bound = OrEmpty(BindSlots(candidate, values, first));
  return bound == body &&
         (candidate.slots.empty() || bound == OrEmpty(BindSlots(candidate, values, second)));
}

const Candidate& Of(const Candidate& candidate) { return candidate; }
const Candidate& Of(const Candidate* candidate) { return *candidate; }

template <typename Candidates, typename Fits>
std::int64_t FirstWhere(const Candidates& candidates, const Fits& fits) {
  const auto found = std::find_if(candidates.begin(), candidates.end(),
                                  [&fits](const auto& candidate) { return fits(Of(candidate)); });
  return found == candidates.end() ? -1 : found - candidates.begin();
}

template <typename Candidates>
std::int64_t FindRequest(const Candidates& candidates, const PlanRequest& request,
                         const SlotValues& values) {
  const std::string uri = CanonicalUri(request.uri);
  const Json body = OrEmpty(request.body);
  return FirstWhere(candidates, [&](const Candidate& candidate) {
    return candidate.method == request.method && candidate.uri == uri &&
           Sends(candidate, body, values);
  });
}

}  // namespace

std::int64_t FindCandidate(std::span<const Candidate> candidates, const PlanRequest& request,
                           const SlotValues& values) {
  return FindRequest(candidates, request, values);
}

std::int64_t FindCandidate(std::span<const Candidate* const> candidates, const PlanRequest& request,
                           const SlotValues& values) {
  return FindRequest(candidates, request, values);
}

std::int64_t FindWait(std::span<const Candidate> candidates) {
  return FirstWhere(candidates,
                    [](const Candidate& candidate) { return candidate.method == kWaitMethod; });
}

}  // namespace shoal::redfish
