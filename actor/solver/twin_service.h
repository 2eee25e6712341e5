// SPDX-License-Identifier: Apache-2.0
// The twin of a real host as a service for environments, so that a policy acts on it as it did in
// training.
//
// An episode begins where the twin began, whatever its start says, and progress is that of the
// twin's own watch. Not thread-safe.
#pragma once

#include <string>

#include "actor/environments/redfish_service.h"
#include "operate/twin.h"

namespace shoal::actor {

class TwinService final : public RedfishService {
 public:
  // `twin` outlives this.
  explicit TwinService(operate::Twin& twin) : twin_(twin) {}

  // The name of the capture is of no account.
  void Reset(const std::string& capture, const redfish::Episode& episode, ResetDone done) override;
  void Send(const ServiceRequest& request, Done done) override;
  void Advance(std::chrono::seconds by, Done done) override;

 private:
  operate::Twin& twin_;
};

}  // namespace shoal::actor
