// SPDX-License-Identifier: Apache-2.0
// A Redfish service that is an object of this process, without HTTP or a control API.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "actor/environments/redfish_service.h"
#include "mockserver/faults/fault.h"
#include "mockserver/instance/instance.h"
#include "mockserver/service/world.h"

namespace shoal::actor {

// Worlds, each under the name of its capture.
using Worlds = std::map<std::string, std::shared_ptr<const mockserver::World>>;

class InProcessService final : public RedfishService {
 public:
  // `worlds` outlives the service. Every instance gets `options`. A request that a fault drops is
  // repeated once if it may be, as HTTP connections do, and then ends with UNAVAILABLE.
  explicit InProcessService(const Worlds& worlds, mockserver::InstanceOptions options = {})
      : worlds_(worlds), options_(std::move(options)) {
    options_.writes_texts = false;
  }

  absl::StatusOr<ServiceFaults> SetFaults(const ServiceFaults& faults) override;
  void Reset(const std::string& capture, const redfish::Episode& episode, ResetDone done) override;
  void Send(const ServiceRequest& request, Done done) override;
  void Advance(std::chrono::seconds by, Done done) override;
  absl::Status WatchOthers(std::vector<redfish::Watch> watches) override;
  std::vector<redfish::Progress> OtherProgress() override;

 private:
  struct Other {
    redfish::Watch watch;
    redfish::Progress progress = {};
  };

  absl::StatusOr<redfish::Progress> ResetNow(const std::string& capture,
                                             const redfish::Episode& episode);

  const Worlds& worlds_;
  mockserver::InstanceOptions options_;
  // One instance for each capture, made at its first episode and then reset.
  std::map<std::string, mockserver::Instance> instances_;
  mockserver::Instance* current_ = nullptr;
  std::vector<Other> others_;
  // What SetFaults has set; null before.
  std::shared_ptr<const mockserver::FaultSet> faults_;
};

}  // namespace shoal::actor
