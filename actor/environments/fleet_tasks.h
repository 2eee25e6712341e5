// SPDX-License-Identifier: Apache-2.0
// What fleets of one process share: a catalog of all members' requests, and what a member draws.
//
// A fleet is several services of one capture. Its candidates are those of each member with the
// member's name as "host" in them, and one `wait` at the end. Immutable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "actor/environments/redfish_environment.h"
#include "actor/environments/redfish_source.h"
#include "inference/client/row.h"
#include "platform/runtime/status.h"
#include "redfish/capture/capture.h"

namespace shoal::actor {

struct FleetCatalog {
  // All members': one action is (member, that member's action), the last one is `wait`.
  std::shared_ptr<const inference::client::CandidateList> candidates;
  // Of one member's own catalog, `wait` among them.
  std::size_t actions = 0;
  std::int64_t wait = 0;
  // Where a member shows its PowerState.
  std::string system = {};
  // What a member draws that is not off.
  std::int64_t watts = 0;
};

struct FleetTasks {
  std::shared_ptr<const RedfishTasks> tasks;
  // "1 power_on x4" for the goals of `tasks`, in their order.
  std::vector<Pair> pairs;
  // By the name of the capture.
  std::map<std::string, FleetCatalog> catalogs;
};

// "node-1" for member 0.
std::string MemberName(std::size_t member);

// What the capture's chassis says that it consumes, rounded; 500 where it does not say.
std::int64_t DrawnWatts(const redfish::Capture& capture);

// REQUIRES: `data` has its captures (environment.fleet_size above 1). INVALID_ARGUMENT naming a
// capture that shows no PowerState, or with more candidates than a list may have.
absl::StatusOr<std::shared_ptr<const FleetTasks>> MakeFleetTasks(const RedfishData& data);

}  // namespace shoal::actor
