// SPDX-License-Identifier: Apache-2.0
// The twin of a real host as a service for environments, so that a policy acts on it as it did in
// training.
//
// An episode begins where the twin began, whatever its start says. Side effects are not counted on
// the way; Twin::SideEffects tells them. Not thread-safe.
#pragma once

#include <string>

#include "actor/environments/redfish_service.h"
#include "operate/twin.h"
#include "redfish/goals/watch.h"

namespace shoal::actor {

class TwinService final : public RedfishService {
 public:
  // `twin` outlives this.
  explicit TwinService(operate::Twin& twin) : twin_(twin) {}

  // REQUIRES: the episode has a watch. The name of the capture is of no account.
  void Reset(const std::string& capture, const redfish::Episode& episode, ResetDone done) override;
  void Send(const ServiceRequest& request, Done done) override;
  void Advance(std::chrono::seconds by, Done done) override;

 private:
  Progress Look();

  operate::Twin& twin_;
  std::optional<redfish::Watch> watch_;
  redfish::WatchState state_;
};

}  // namespace shoal::actor
