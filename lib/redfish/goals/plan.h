// SPDX-License-Identifier: Apache-2.0
// A plan is how an expert reaches a goal: requests with references into the service's tree, each
// with a condition on the state that the service shows. A collection whose members a step goes
// through is read with them where the client expands it and that is no more requests.
//
// As JSON, after the names in a goal's file have been replaced (data/goals/README.md):
//   {"method": "PATCH", "uri": U, "body": {..}}
//   {"action": "#ComputerSystem.Reset", "uri": U, "body": {..}}   POST to the action's target in U
//   {"method": "WAIT", "until": X}                              looks and waits until X holds
// and with any of them
//   "when": X          the step is skipped unless X holds; X as in predicate.h, without history
//   "one_of": {"ResetType": ["ForceRestart", "On"]}   the first that the action lists as allowable
//   "copy": {"/AssetTag": {"uri": U, "pointer": P}}   the body's value at /AssetTag is what
//                        U shows at P, which is looked at before the request is sent
//   "each": {"members": U, "where": X}    once for each member that fulfils X; "$each" is its URI
//   "keep": "own"      the reply's Location becomes "$own", its token is kept under that name
//   "as": "own"        the request is sent with that token
//   "shows": X         a refusal with 400 or 409 is success if X holds when looked at again
//
// Where a request is answered with 202 and a Task, the expert looks at the task and waits until its
// work is over (DSP0266, "Asynchronous operations"). A step that keeps something is refused then.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "platform/runtime/status.h"
#include "redfish/catalog/candidate.h"

namespace shoal::redfish {

// Steps in order, each as above. CheckPlan validates a plan, RunPlan executes it.
using Plan = std::vector<nlohmann::json>;

struct PlanRequest {
  std::string method;
  std::string uri;
  // Null means no body.
  nlohmann::json body;
  // The token of a session; empty for none.
  std::string token;
};

struct PlanReply {
  // 0 means that no reply came.
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
  // Whether the collection at `uri` can be read with its members, by one GET of the URI and
  // kExpandQuery.
  virtual bool Expands(const std::string& /*uri*/) const { return false; }
};

struct PlanOptions {
  // The number of attempts for a request that is answered 412, 503 or not at all.
  int attempts = 10;
  std::chrono::seconds pause{5};
  // The number of looks of one WAIT, or at one task.
  int looks = 60;
  // Whether requests are sent without looking whether they are due. That saves looks, but a request
  // that is not due may be refused, which fails the plan.
  bool unseen = false;
  // Returns a resource as it was captured, or null. Where it is set, actions are found there
  // instead of by looking.
  std::function<const nlohmann::json*(const std::string& uri)> captured = {};
};

struct PlanOutcome {
  std::int64_t requests = 0;
  // The number of requests that steps sent, looks excluded; repeated requests count again.
  std::int64_t mutations = 0;
};

// Return INVALID_ARGUMENT naming the step and the wrong key. CheckPlanKeys checks only the keys,
// for a plan whose conditions still have "$names".
absl::Status CheckPlanKeys(const Plan& plan);
absl::Status CheckPlan(const Plan& plan);

// FAILED_PRECONDITION naming the step and the answer: the service refused it, or its task failed.
// UNAVAILABLE: no lasting answer came in all attempts, the condition of a WAIT did not come to
// hold, or a task's work did not end or cannot be seen.
absl::StatusOr<PlanOutcome> RunPlan(const Plan& plan, PlanClient& client, PlanOptions options = {});

// These functions find the candidate that equals a request. They lead from an expert's requests to
// an agent's actions.

// Returns the index of the first candidate with the request's method and canonical URI, and with
// its body once the slots have the right values. With `composes` it returns the first one that
// composes requests with that method and URI instead. Returns -1 when there is none.
std::int64_t FindCandidate(std::span<const Candidate> candidates, const PlanRequest& request,
                           bool composes = false);
std::int64_t FindCandidate(std::span<const Candidate* const> candidates, const PlanRequest& request,
                           bool composes = false);

// Returns the index of `wait`, or -1 when there is none.
std::int64_t FindWait(std::span<const Candidate> candidates);

}  // namespace shoal::redfish
