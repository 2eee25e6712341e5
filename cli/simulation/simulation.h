// SPDX-License-Identifier: Apache-2.0
// A discrete-event simulation of a cluster: environments step, inference answers in batches,
// unrolls go to replay shards, learner ranks update together and publish.
//
// What it keeps of the real system: processes work one task after another and share the processors
// of their machine; answers are held back while replay has no room; learners fetch the next round
// while they update; a round begins when every rank has its share, and the slowest rank decides.
// What it leaves out: differences between rows, episodes, catalogs and contents, evaluations,
// failures, and that a scheduler runs a thread at once that has slept. Each environment takes the
// mean step.
//
// It is deterministic: equal inputs give equal results.
#pragma once

#include "cli/simulation/simulated_cluster.h"
#include "cli/simulation/simulation_options.h"
#include "cli/simulation/simulation_result.h"
#include "platform/runtime/status.h"

namespace shoal::cli {

// Simulates so many seconds. Returns INVALID_ARGUMENT for costs under which nothing takes time, and
// RESOURCE_EXHAUSTED where it takes more than 400 million events.
absl::StatusOr<SimulationResult> Simulate(const SimulatedCluster& cluster,
                                          const SimulationOptions& options, double seconds);

}  // namespace shoal::cli
