// SPDX-License-Identifier: Apache-2.0
// Placements by search: they try placements in the simulator and keep the one of least cost.
//
// The same seed gives the same placement. Not thread-safe, as the simulator is not. REQUIRES of
// all: placements are of the simulator's graph, and evaluations >= 1.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "placement/simulator.h"

namespace shoal::placement {

struct SearchOptions {
  // The number of placements that are tried.
  std::uint64_t evaluations = 20'000;
  std::uint64_t seed = 1;
  // Is called with the number of placements tried so far.
  std::function<void(std::uint64_t)> progress = [](std::uint64_t) {};
};

struct Found {
  Placement placement;
  Step step;
  // The placements tried, and how many of them until the best was found.
  std::uint64_t evaluations = 0;
  std::uint64_t best_after = 0;
};

// Simulated annealing (Kirkpatrick, Gelatt and Vecchi, Science 220, 1983) from the placement
// `start`. A move puts one group, or a run of groups that follow each other in `order`, on one
// device, or exchanges the devices of two groups. The temperature falls geometrically from 10 % to
// 0.01 % of the start's cost.
absl::StatusOr<Found> Anneal(Simulator& simulator, const Placement& start,
                             const std::vector<std::size_t>& order, const SearchOptions& options);

// The cross-entropy method with an independent distribution over devices for each group, in the
// closed form of Gao, Chen and Li, "Post: device placement with cross-entropy minimization and
// proximal policy optimization", NeurIPS 2018: after each batch, a group's probabilities are the
// shares of devices among the best tenth, mixed with a tenth of the uniform distribution.
absl::StatusOr<Found> CrossEntropy(Simulator& simulator, const SearchOptions& options);

// Tries every placement, which are devices ^ groups. Nothing if these are more than
// options.evaluations.
absl::StatusOr<std::optional<Found>> BruteForce(Simulator& simulator, const SearchOptions& options);

}  // namespace shoal::placement
