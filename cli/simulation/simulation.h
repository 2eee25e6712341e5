// SPDX-License-Identifier: Apache-2.0
// A discrete-event simulation of a cluster: environments step, inference answers in batches,
// unrolls go to replay shards, learner ranks update together and publish.
//
// What it keeps of the real system: processes work one task after another and share the processors
// of their machine; answers are held back while replay has no room; learners fetch the next round
// while they update; a round begins when every rank has its share, and the slowest rank decides.
// What it leaves out: differences between rows, episodes, catalogs and contents, evaluations,
// failures. Each environment takes the mean step.
//
// It is deterministic: equal inputs give equal results.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/simulation/simulated_cluster.h"
#include "cli/simulation/simulation_options.h"
#include "platform/runtime/status.h"

namespace shoal::cli {

// How much of a resource was in use, 0 to 1, the mean over all of its kind.
struct ResourceUse {
  // As in "processors of machine" or "inference".
  std::string resource;
  double share = 0;
};

struct SimulationResult {
  // What was measured, after the first third.
  double seconds = 0;
  double environment_steps_per_second = 0;
  double updates_per_second = 0;
  double learner_rows_per_second = 0;
  // The mean age of trained items, in published versions.
  double staleness = 0;
  // Items that were too old to be trained on, as a share of all.
  double stale_share = 0;
  double batch_rows = 0;
  // Where environments spend their time: "environment", "inference" and "room in replay"; adds up
  // to 1.
  std::vector<ResourceUse> environment_time;
  // The shares of learner ranks' time in which they had no rows, and waited for others.
  double learner_waits_share = 0;
  double learner_reduces_share = 0;
  // Every resource, the most used one first.
  std::vector<ResourceUse> resources;
  // The resource that limits the cluster, in words.
  std::string limit;
  std::uint64_t events = 0;
};

// Simulates so many seconds. Returns INVALID_ARGUMENT for costs under which nothing takes time, and
// RESOURCE_EXHAUSTED where it takes more than 400 million events.
absl::StatusOr<SimulationResult> Simulate(const SimulatedCluster& cluster,
                                          const SimulationOptions& options, double seconds);

}  // namespace shoal::cli
