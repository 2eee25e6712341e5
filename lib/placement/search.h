// SPDX-License-Identifier: Apache-2.0
// Placements by searches that learn nothing: annealing, and brute force.
//
// The same seed gives the same placement, but for searches whose time is limited. Not thread-safe,
// as the simulator is not. REQUIRES of all: placements are of the simulator's graph, and
// evaluations >= 1.
#pragma once

#include <cstdint>
#include <vector>

#include "placement/trial.h"

namespace shoal::placement {

// Simulated annealing (Kirkpatrick, Gelatt and Vecchi, Science 220, 1983) from the placement
// `start`. A move puts one group, or a run of groups that follow each other in `order`, on one
// device, or exchanges the devices of two groups. The temperature falls geometrically from 10 % to
// 0.01 % of a scale, by the share of the placements or of the time that is used up. The scale is
// the start's cost; where the start does not fit, it is the step of the best placement that does,
// once there is one, since the penalty of those that do not is many such steps.
absl::StatusOr<Found> Anneal(Simulator& simulator, const Placement& start,
                             const std::vector<std::size_t>& order, const SearchOptions& options);

// Tries every placement, unless the time ends before. REQUIRES: CanTryAll.
absl::StatusOr<Found> BruteForce(Simulator& simulator, const SearchOptions& options);

// Whether all placements, which are devices ^ groups, are at most `evaluations`.
bool CanTryAll(const Simulator& simulator, std::uint64_t evaluations);

}  // namespace shoal::placement
