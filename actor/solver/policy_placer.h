// SPDX-License-Identifier: Apache-2.0
// A trained policy that places a graph which it need not have seen before.
//
// The first placement takes the most probable choice for each group, without simulating any whole
// placement before. Further ones are drawn from the policy, as in training. Place blocks. Not
// thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "actor/environments/environment_options.h"
#include "actor/solver/attempts.h"
#include "placement/device_set.h"
#include "placement/graph.h"
#include "platform/runtime/clock.h"
#include "platform/runtime/status.h"

namespace shoal::actor {

struct PolicyPlacerOptions {
  // "host:port" of the inference server that has the policy.
  std::string inference = {};
  // That with which the policy was trained.
  EnvironmentOptions environment = {};
  // Placements that are drawn beside the greedy one.
  std::uint64_t samples = 0;
  // How long the greedy placement may take, and how long all samples together.
  runtime::Duration patience = std::chrono::minutes(5);
  runtime::Duration samples_patience = std::chrono::minutes(5);
};

// Returns the greedy placement and then the drawn ones, at most options.samples: as many as are
// drawn in time, or before `check` returned CANCELLED. INVALID_ARGUMENT when the policy was trained
// on something else than placement, and for a graph and devices as of GradualPlacement::Create;
// other errors are those of `check` and of the server.
absl::StatusOr<std::vector<placement::Placement>> PlaceByPolicy(const placement::Graph& graph,
                                                                const placement::DeviceSet& devices,
                                                                const PolicyPlacerOptions& options,
                                                                const CheckAttempts& check);

}  // namespace shoal::actor
