// SPDX-License-Identifier: Apache-2.0
// The interface of a Redfish service to an environment: it is reset to a start and then takes one
// request at a time.
//
// InProcessService and HttpService, which simulate one, give the same answers to the same calls.
// Not thread-safe. Completions run on the environment's thread, perhaps inline. An error of
// Send or Advance means that the service is lost: a request that it refuses has a response with a
// status.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "actor/environments/service_faults.h"
#include "platform/runtime/status.h"
#include "redfish/goals/goal.h"

namespace shoal::actor {

struct ServiceRequest {
  std::string method = "";
  std::string uri = "";
  // Null when the request has no body.
  nlohmann::json body = nullptr;
  std::string if_match = "";
  // The session's X-Auth-Token, or empty for none.
  std::string token = "";

  friend bool operator==(const ServiceRequest&, const ServiceRequest&) = default;
};

struct ServiceResponse {
  int status = 0;
  // The body as text. Null when there is none, or when only `json` holds it.
  std::shared_ptr<const std::string> body = nullptr;
  // The body as a value, from a service in process that need not write it as text.
  std::shared_ptr<const nlohmann::json> json = nullptr;
  std::string etag = "";
  // The X-Auth-Token of the session that the request made, or empty for none.
  std::string token = "";
  std::string location = "";
  redfish::Progress progress = {};
};

// Returns the body as a value and parses it if it came only as text. The value is null when there
// is no body and discarded when the body is no JSON (platform/content/parse_json.h). The pointer is
// never null.
std::shared_ptr<const nlohmann::json> JsonOf(const ServiceResponse& response);

class RedfishService {
 public:
  using ResetDone = std::function<void(absl::StatusOr<redfish::Progress>)>;
  using Done = std::function<void(absl::StatusOr<ServiceResponse>)>;

  virtual ~RedfishService() = default;

  // Has the service misbehave so from the next Reset on, in place of whatever it did before, and
  // returns what of it was set. UNIMPLEMENTED where nobody can make it misbehave.
  virtual absl::StatusOr<ServiceFaults> SetFaults(const ServiceFaults&) {
    return absl::UnimplementedError("this service cannot be made to fail");
  }
  // Resets to a fresh service of `capture` with the start and the watch of `episode`. Errors are
  // UNAVAILABLE when the service cannot be reached, and INVALID_ARGUMENT or NOT_FOUND when it
  // refuses the start.
  virtual void Reset(const std::string& capture, const redfish::Episode& episode,
                     ResetDone done) = 0;
  // REQUIRES: Reset has completed with OK, and nothing else is under way.
  virtual void Send(const ServiceRequest& request, Done done) = 0;
  // Moves the service's clock forward. The response has status 0 and no body.
  virtual void Advance(std::chrono::seconds by, Done done) = 0;

  // Watches further goals until the next Reset. UNIMPLEMENTED where only the episode's own can be
  // watched. REQUIRES: Reset has completed with OK, and nothing else has been asked since.
  virtual absl::Status WatchOthers(std::vector<redfish::Watch>) {
    return absl::UnimplementedError("this service watches the goal of its episode alone");
  }
  // Returns how far the episode has come with each goal of WatchOthers.
  virtual std::vector<redfish::Progress> OtherProgress() { return {}; }
};

}  // namespace shoal::actor
