// SPDX-License-Identifier: Apache-2.0
// Asks a server's standard health service (grpc.health.v1) whether it serves.
#pragma once

#include <grpcpp/channel.h>

#include <memory>

#include "platform/runtime/clock.h"
#include "platform/runtime/status.h"

namespace shoal::transport {

// Blocks for at most `timeout`; never call it from a reaction. OK: the server serves. UNAVAILABLE:
// it does not serve or is not reachable. DEADLINE_EXCEEDED: it did not answer in time.
absl::Status CheckHealth(const std::shared_ptr<grpc::Channel>& channel, runtime::Duration timeout);

}  // namespace shoal::transport
