// SPDX-License-Identifier: Apache-2.0
// A source of Redfish environments from captures, goals and schema on disk.
//
// It logs the catalogs and every (goal, capture) pair when it is made.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "actor/environments/environment_source.h"
#include "actor/environments/host_service.h"
#include "actor/environments/inprocess_service.h"
#include "actor/environments/redfish_environment.h"
#include "actor/environments/redfish_service.h"
#include "platform/runtime/status.h"
#include "redfish/capture/capture.h"

namespace shoal::actor {

// Returns NOT_FOUND, DATA_LOSS or INVALID_ARGUMENT naming the file, capture or goal that is wrong.
absl::StatusOr<std::unique_ptr<EnvironmentSource>> MakeRedfishSource(const SourceConfig& config);

// Captures that were loaded, and the tasks on them. The source and tests use it.
struct RedfishData {
  std::shared_ptr<const RedfishTasks> tasks;
  // Captures by name. Filled only for fleets, as MakeFleetTasks needs them.
  std::map<std::string, std::shared_ptr<const redfish::Capture>> captures;
  // Empty unless access is "inprocess".
  Worlds worlds;
};
absl::StatusOr<RedfishData> LoadRedfishData(const SourceConfig& config);

// Addresses of the services when they are not in this process.
struct RedfishAddresses {
  std::string mockserver = {};
  std::string control = {};
  // Only where access is "host".
  std::optional<HostTerms> host = std::nullopt;
};
// Returns INVALID_ARGUMENT when access is "http" and an address is missing, and when it is "host"
// and the host, or what may be done to it, is not clear.
absl::StatusOr<RedfishAddresses> FindAddresses(const SourceConfig& config);

// Returns a function that makes at most `count` services for one loop, each with an id of its own.
// The services run on `executor` and share its connections. `data` outlives them.
using ServiceMaker = std::function<std::unique_ptr<RedfishService>(std::uint64_t id)>;
ServiceMaker MakeServices(const RedfishData& data, const RedfishAddresses& addresses,
                          boost::asio::any_io_executor executor, std::size_t count);

}  // namespace shoal::actor
