// SPDX-License-Identifier: Apache-2.0
// A Redfish service as an environment uses it: reset to a start, then asked, one request at a time.
//
// The seam between one environment and its two kinds of access: InProcessService and HttpService
// give the same answers to the same calls. Not thread-safe; completions come on the environment's
// thread, perhaps inline. Errors mean that the service is lost, never that it refused something.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "platform/runtime/status.h"
#include "redfish/goals/goal.h"

namespace shoal::actor {

// How the episode stands.
struct Progress {
  bool satisfied = false;
  // Bit i: milestone i was reached at some time.
  std::uint64_t milestones = 0;
  // Writable properties that differ from the start and are not allowed to.
  std::int64_t collateral = 0;
};

struct ServiceRequest {
  std::string method;
  std::string uri;
  // Null for none.
  nlohmann::json body = nullptr;
  std::string if_match = "";
  // Of a session, X-Auth-Token; empty for none.
  std::string token = "";
};

struct ServiceResponse {
  int status = 0;
  // Null for none, and where `json` stands for it.
  std::shared_ptr<const std::string> body = nullptr;
  // Of a service in process, which need not write it as text.
  std::shared_ptr<const nlohmann::json> json = nullptr;
  std::string etag = "";
  // Of the session that was made, X-Auth-Token; empty for none.
  std::string token = "";
  std::string location = "";
  Progress progress = {};
};

// The body as a value, parsed where it came as text alone; null without one, discarded where it is
// no JSON (content/parse_json.h). Never nullptr.
std::shared_ptr<const nlohmann::json> JsonOf(const ServiceResponse& response);

class RedfishService {
 public:
  using ResetDone = std::function<void(absl::StatusOr<Progress>)>;
  using Done = std::function<void(absl::StatusOr<ServiceResponse>)>;

  virtual ~RedfishService() = default;

  // A fresh service of `capture` with the start and the watch of `episode`. UNAVAILABLE when it
  // cannot be reached.
  virtual void Reset(const std::string& capture, const redfish::Episode& episode,
                     ResetDone done) = 0;
  // REQUIRES: Reset has completed with OK, and nothing else is under way.
  virtual void Send(const ServiceRequest& request, Done done) = 0;
  // Moves the service's clock. The response has status 0 and no body.
  virtual void Advance(std::chrono::seconds by, Done done) = 0;
};

}  // namespace shoal::actor
