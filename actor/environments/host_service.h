// SPDX-License-Identifier: Apache-2.0
// A real host as a service for environments: nothing is changed there unless the configuration
// names what may be.
//
// A host cannot be put into a start: an episode begins wherever the host is, and an episode that
// finds its goal reached ends with its first request. The goal is judged by reads of its own, after
// requests that may have changed something and after waits. A host tells neither what happened
// before nor what else changed, so conditions on history never hold and side effects are not
// counted. A request that is not permitted is not sent; it is answered with 403, as a service
// answers a user without the privilege.
//
// Send, Advance and Reset block the environment's thread. Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actor/environments/redfish_service.h"
#include "operate/host.h"
#include "operate/host_access.h"
#include "operate/permissions.h"
#include "platform/runtime/config.h"
#include "platform/runtime/status.h"
#include "redfish/goals/watch.h"

namespace shoal::actor {

// Section [environment.host].
struct RealHostOptions {
  // "https://host[:port]".
  std::string url = "";
  operate::HostAccess access = {};
  // The methods of requests that may change the host; none: it is only read.
  std::vector<std::string> methods = {};
  // The paths that may be written, as in operate/permissions.h; none: any.
  std::vector<std::string> uris = {};
  // The most requests that may change the host, over all episodes of the process.
  std::int64_t budget = 0;

  void Visit(runtime::Visitor& visitor);
};

// The host, and what environments may do to it.
struct HostTerms {
  operate::HostOptions options = {};
  // Permit nothing where there are no methods; the budget is never negative.
  operate::Permissions permissions = {};
};
// Returns INVALID_ARGUMENT or NOT_FOUND naming the knob.
absl::StatusOr<HostTerms> TermsOf(const RealHostOptions& options);

class HostService final : public RedfishService {
 public:
  // `budget` is shared by the services of one thread.
  HostService(HostTerms terms, std::shared_ptr<operate::Budget> budget);
  ~HostService() override;

  // A real host is as it is, so nothing is set. Jobs that have it fail or answer late are refused
  // before (FindAddresses).
  absl::StatusOr<ServiceFaults> SetFaults(const ServiceFaults&) override { return ServiceFaults(); }
  // Logs in before the first episode.
  void Reset(const std::string& capture, const redfish::Episode& episode, ResetDone done) override;
  void Send(const ServiceRequest& request, Done done) override;
  void Advance(std::chrono::seconds by, Done done) override;

 private:
  absl::StatusOr<redfish::Progress> Begin(const redfish::Episode& episode);
  absl::StatusOr<ServiceResponse> Exchange(const ServiceRequest& request);
  // OK when the request may be sent. It then counts against the budget.
  absl::Status Permit(const ServiceRequest& request);
  // Judges the goal by what the host shows now.
  absl::StatusOr<redfish::Progress> Look();

  const HostTerms terms_;
  const std::shared_ptr<operate::Budget> budget_;
  operate::Host host_;
  bool entered_ = false;
  std::optional<redfish::Watch> watch_;
  redfish::Progress progress_;
};

}  // namespace shoal::actor
