// SPDX-License-Identifier: Apache-2.0
// The tasks that the fleets of one process share: a catalog of all members' requests, and the power
// that a member draws.
//
// A fleet is several services of one capture. Its candidates are the candidates of each member,
// with the member's name added as "host", and one `wait` at the end. Immutable.
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
  // The candidates of all members in the members' order, then `wait`.
  std::shared_ptr<const inference::client::CandidateList> candidates;
  // The number of candidates of one member's own catalog, `wait` among them, and the index of
  // `wait` in it.
  std::size_t actions = 0;
  std::int64_t wait = 0;
  // URI of the resource that shows a member's PowerState.
  std::string system = {};
  // Power in watts that a member draws when it is not off.
  std::int64_t watts = 0;
};

struct FleetTasks {
  std::shared_ptr<const RedfishTasks> tasks;
  // The pairs of `tasks` in their order, with goals named as in "1 power_on x4".
  std::vector<Pair> pairs;
  // Each catalog stands under the name of its capture.
  std::map<std::string, FleetCatalog> catalogs;
};

// "node-1" for member 0.
std::string MemberName(std::size_t member);

// The power that the capture's chassis reports to consume, rounded, or 500 if it reports none.
std::int64_t DrawnWatts(const redfish::Capture& capture);

// REQUIRES: `data` has its captures (environment.fleet_size above 1). Returns INVALID_ARGUMENT
// naming a capture that shows no PowerState or has too many candidates for one list.
absl::StatusOr<std::shared_ptr<const FleetTasks>> MakeFleetTasks(const RedfishData& data);

}  // namespace shoal::actor
