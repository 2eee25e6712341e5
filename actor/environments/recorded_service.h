// SPDX-License-Identifier: Apache-2.0
// A service that answers as another one did in an episode, to one that asks the same again.
//
// With it an environment tells an episode again under another goal: it sends the requests that were
// sent then and is answered as then, but the progress is that of the other goal. Not thread-safe.
// Completions run inline.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "actor/environments/redfish_service.h"

namespace shoal::actor {

// What an episode asked and was answered, and how far it came with each of several other goals.
struct Recording {
  struct Exchange {
    // Its method is redfish::kWaitMethod where the clock was moved.
    ServiceRequest request = {};
    ServiceResponse response = {};
    std::vector<redfish::Progress> others = {};
  };
  // The progress at the start.
  std::vector<redfish::Progress> start = {};
  std::vector<Exchange> exchanges = {};
};

class RecordedService final : public RedfishService {
 public:
  // `goal` is a number among the recording's other goals. `recording` must outlive the service.
  RecordedService(const Recording& recording, std::size_t goal)
      : recording_(recording), goal_(goal) {}

  // The recorded answers tell of the faults of then.
  absl::StatusOr<ServiceFaults> SetFaults(const ServiceFaults& faults) override { return faults; }
  // Begins the recording anew.
  void Reset(const std::string& capture, const redfish::Episode& episode, ResetDone done) override;
  // FAILED_PRECONDITION if the recording goes on with another request, or not at all.
  void Send(const ServiceRequest& request, Done done) override;
  void Advance(std::chrono::seconds by, Done done) override;

 private:
  const Recording& recording_;
  const std::size_t goal_;
  std::size_t next_ = 0;
};

}  // namespace shoal::actor
