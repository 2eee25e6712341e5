// SPDX-License-Identifier: Apache-2.0
// Placements by searches that learn nothing: annealing, and brute force.
//
// The same seed gives the same placement. Not thread-safe, as the simulator is not. REQUIRES of
// all: placements are of the simulator's graph, and evaluations >= 1.
#pragma once

#include <optional>
#include <vector>

#include "placement/trial.h"

namespace shoal::placement {

// Simulated annealing (Kirkpatrick, Gelatt and Vecchi, Science 220, 1983) from the placement
// `start`. A move puts one group, or a run of groups that follow each other in `order`, on one
// device, or exchanges the devices of two groups. The temperature falls geometrically from 10 % to
// 0.01 % of the start's cost.
absl::StatusOr<Found> Anneal(Simulator& simulator, const Placement& start,
                             const std::vector<std::size_t>& order, const SearchOptions& options);

// Tries every placement, which are devices ^ groups. Nothing if these are more than
// options.evaluations.
absl::StatusOr<std::optional<Found>> BruteForce(Simulator& simulator, const SearchOptions& options);

}  // namespace shoal::placement
