// SPDX-License-Identifier: Apache-2.0
// Placements that send little: the graph of groups is cut into parts of about equal time such that
// few bytes cross, by the partitioners that the papers compare with.
//
// They know neither time nor memory of a schedule. Pure functions; not thread-safe, since the
// libraries draw random numbers from a state of the process, which each call sets back.
#pragma once

#include <cstddef>
#include <vector>

#include "placement/graph.h"
#include "placement/group_graph.h"

namespace shoal::placement {

// METIS, k-way (Karypis and Kumar, SIAM J. Sci. Comput. 20(1), 1998). Part i goes to devices[i].
// INTERNAL if the library fails.
absl::StatusOr<Placement> CutByMetis(const GroupGraph& groups,
                                     const std::vector<std::size_t>& devices);

// Scotch (Pellegrini and Roman, HPCN Europe 1996), with its default strategy.
absl::StatusOr<Placement> CutByScotch(const GroupGraph& groups,
                                      const std::vector<std::size_t>& devices);

}  // namespace shoal::placement
