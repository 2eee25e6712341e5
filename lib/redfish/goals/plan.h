// SPDX-License-Identifier: Apache-2.0
// How an expert reaches a goal: requests with references into the service's tree, each with a
// condition on what the service shows.
//
// As JSON, after what a goal's file leaves open has been filled in (data/goals/README.md):
//   {"method": "PATCH", "uri": U, "body": {..}}
//   {"action": "#ComputerSystem.Reset", "uri": U, "body": {..}}   POST to the action's target in U
//   {"method": "WAIT", "until": X}                              looks and waits until X shows
// and with any of them
//   "when": X          skipped unless X shows; X as in predicate.h, history left out
//   "one_of": {"ResetType": ["ForceRestart", "On"]}   the first that the action lists as allowable
//   "each": {"members": U, "where": X}    once for each member that X holds of, "$each" is its URI
//   "keep": "own"      the reply's Location becomes "$own", its token goes by that name
//   "as": "own"        sent with that token
//   "shows": X         a refusal with 400 or 409 is success if X shows on another look
#pragma once

#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "platform/runtime/status.h"
#include "redfish/catalog/candidate.h"

namespace shoal::redfish {

// Steps in order, each as above. Judged by CheckPlan, carried out by RunPlan.
using Plan = std::vector<nlohmann::json>;

struct PlanRequest {
  std::string method;
  std::string uri;
  // Null for none.
  nlohmann::json body;
  // Of a session; empty for none.
  std::string token;
};

struct PlanReply {
  // 0: none came.
  int status = 0;
  nlohmann::json body;
  std::string location;
  std::string token;
};

// The service as an expert sees it.
class PlanClient {
 public:
  virtual ~PlanClient() = default;
  virtual PlanReply Send(const PlanRequest& request) = 0;
  virtual void Wait(std::chrono::seconds time) = 0;
};

struct PlanOptions {
  // Of one request that is answered 412, 503 or not at all.
  int attempts = 10;
  std::chrono::seconds pause{5};
  // Looks of one WAIT.
  int looks = 60;
};

struct PlanOutcome {
  std::int64_t requests = 0;
  // Sent with a method other than GET; those that had to be repeated count again.
  std::int64_t mutations = 0;
};

// INVALID_ARGUMENT naming the step and the key that is wrong. Keys alone: of a plan whose
// conditions still speak of "$names".
absl::Status CheckPlanKeys(const Plan& plan);
absl::Status CheckPlan(const Plan& plan);

// FAILED_PRECONDITION naming the step and the answer: the service refused it. UNAVAILABLE: no
// lasting answer, however often it was asked, or what was waited for did not show.
absl::StatusOr<PlanOutcome> RunPlan(const Plan& plan, PlanClient& client, PlanOptions options = {});

// Which of a service's candidates a request is: the way from what an expert sends to what an agent
// chooses.

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
