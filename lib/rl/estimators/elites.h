// SPDX-License-Identifier: Apache-2.0
// Elites: the episodes of a batch that the cross-entropy method imitates (Rubinstein and Kroese,
// "The Cross-Entropy Method", 2004; for policies: Lapan, "Deep Reinforcement Learning Hands-On").
//
// The return of an episode is its sum of rewards, whether it terminated or was truncated.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace shoal::estimators {

// Returns the indices, ascending, of episodes whose return reaches the given percentile (0 to 100)
// of all. The percentile is interpolated linearly between the two nearest returns, as numpy does.
// Returns equal to it are kept, so at least one episode is elite, and all are where all returns are
// equal. A return that is not a number is never elite and does not count. REQUIRES: 0 <= percentile
// <= 100.
std::vector<std::size_t> Elites(std::span<const float> episode_return, double percentile);

}  // namespace shoal::estimators
