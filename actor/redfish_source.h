// SPDX-License-Identifier: Apache-2.0
// Redfish environments from captures, goals and schema on disk.
//
// At start the catalogs and the list of (goal, capture) pairs are logged: nothing is hand-picked.
#pragma once

#include <memory>

#include "actor/environment_source.h"
#include "actor/inprocess_service.h"
#include "actor/redfish_environment.h"
#include "actor/redfish_service.h"
#include "runtime/status.h"

namespace shoal::actor {

// NOT_FOUND, DATA_LOSS or INVALID_ARGUMENT naming the file, capture or goal that is wrong.
absl::StatusOr<std::unique_ptr<EnvironmentSource>> MakeRedfishSource(const SourceConfig& config);

// Captures that were loaded, and what is done with them; for the source and for tests.
struct RedfishData {
  std::shared_ptr<const RedfishTasks> tasks;
  // Empty unless access is "inprocess".
  Worlds worlds;
};
absl::StatusOr<RedfishData> LoadRedfishData(const SourceConfig& config);

}  // namespace shoal::actor
