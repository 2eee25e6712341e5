// SPDX-License-Identifier: Apache-2.0
// A source of fleets of Redfish services (fleet_environment.h) from captures, goals and schema on
// disk.
#pragma once

#include <memory>

#include "actor/environments/environment_source.h"
#include "platform/runtime/status.h"

namespace shoal::actor {

// Each fleet has environment.fleet_size services. Errors are those of MakeRedfishSource.
absl::StatusOr<std::unique_ptr<EnvironmentSource>> MakeFleetSource(const SourceConfig& config);

}  // namespace shoal::actor
