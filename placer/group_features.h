// SPDX-License-Identifier: Apache-2.0
// What a policy reads of each group of a graph, after Mirhoseini et al., "Device placement
// optimization with reinforcement learning", ICML 2017: the types of its operations, the sizes of
// their outputs, and which groups it is adjacent to.
//
// Groups are in the topological order of their first operations. Values; pure functions.
#pragma once

#include <cstddef>
#include <vector>

#include "placement/graph.h"
#include "placement/simulator.h"

namespace shoal::placer {

// The sizes of a group: by phase its arithmetic and its outputs, and its parameters.
inline constexpr std::size_t kSizes = 7;

struct GroupFeatures {
  // Position -> group.
  std::vector<std::size_t> order;
  std::size_t kinds = 0;
  // [position, kind]: the share of the group's operations that are of this kind; kinds are numbered
  // in the order of their names.
  std::vector<float> kind_shares;
  // [position, kSizes]: logarithms, with mean 0 and variance 1 over the groups; 0 where all are
  // equal.
  std::vector<float> sizes;
  // [position, 2 * groups]: 1 for each position that the group reads, and beyond those for each
  // that reads it.
  std::vector<float> adjacency;
};

// REQUIRES: `simulator` is of `graph`.
GroupFeatures FeaturesOf(const placement::Graph& graph, const placement::Simulator& simulator);

}  // namespace shoal::placer
