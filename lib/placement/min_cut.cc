// SPDX-License-Identifier: Apache-2.0
#include "placement/min_cut.h"

#include <metis.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <numeric>
// Scotch's header uses what those above declare.
#include <scotch/scotch.h>

namespace shoal::placement {
namespace {

// Compressed rows, as both libraries read them.
template <typename Number>
struct Rows {
  std::vector<Number> begin = {0};
  std::vector<Number> neighbour;
  std::vector<Number> edge_weight;
  std::vector<Number> weight;
};

// Weights are whole numbers from 1, which add up to about 1e8.
template <typename Number>
Number Weight(double value, double total) {
  constexpr double kTotal = 1e8;
  return static_cast<Number>(total > 0 ? std::max(1.0, std::round(value / total * kTotal)) : 1.0);
}

template <typename Number>
Rows<Number> RowsOf(const GroupGraph& groups) {
  double bytes = 0;
  std::vector<std::vector<std::pair<std::size_t, double>>> neighbours(groups.seconds.size());
  for (const auto& [pair, sent] : groups.bytes) {
    neighbours[pair.first].emplace_back(pair.second, sent);
    neighbours[pair.second].emplace_back(pair.first, sent);
    bytes += sent;
  }
  const double seconds = std::accumulate(groups.seconds.begin(), groups.seconds.end(), 0.0);
  Rows<Number> rows;
  for (std::size_t group = 0; group < neighbours.size(); ++group) {
    rows.weight.push_back(Weight<Number>(groups.seconds[group], seconds));
    for (const auto& [other, sent] : neighbours[group]) {
      rows.neighbour.push_back(static_cast<Number>(other));
      rows.edge_weight.push_back(Weight<Number>(sent, bytes));
    }
    rows.begin.push_back(static_cast<Number>(rows.neighbour.size()));
  }
  return rows;
}

// A graph that is no larger than the number of parts, or has no edges, needs no library.
bool IsTrivial(const GroupGraph& groups, const std::vector<std::size_t>& devices) {
  return groups.seconds.size() <= devices.size() || groups.bytes.empty() || devices.size() == 1;
}

Placement Deal(const GroupGraph& groups, const std::vector<std::size_t>& devices) {
  Placement placement;
  for (std::size_t group = 0; group < groups.seconds.size(); ++group) {
    placement.push_back(devices[group % devices.size()]);
  }
  return placement;
}

template <typename Number>
Placement PlacementOf(const std::vector<Number>& parts, const std::vector<std::size_t>& devices) {
  Placement placement;
  for (const Number part : parts) placement.push_back(devices[static_cast<std::size_t>(part)]);
  return placement;
}

}  // namespace

absl::StatusOr<Placement> CutByMetis(const GroupGraph& groups,
                                     const std::vector<std::size_t>& devices) {
  if (IsTrivial(groups, devices)) return Deal(groups, devices);
  Rows<idx_t> rows = RowsOf<idx_t>(groups);
  auto count = static_cast<idx_t>(groups.seconds.size());
  auto parts = static_cast<idx_t>(devices.size());
  idx_t constraints = 1;
  idx_t cut = 0;
  std::vector<idx_t> options(METIS_NOPTIONS);
  METIS_SetDefaultOptions(options.data());
  options[METIS_OPTION_SEED] = 1;
  std::vector<idx_t> part(groups.seconds.size());
  const int result = METIS_PartGraphKway(
      &count, &constraints, rows.begin.data(), rows.neighbour.data(), rows.weight.data(), nullptr,
      rows.edge_weight.data(), &parts, nullptr, nullptr, options.data(), &cut, part.data());
  if (result != METIS_OK) {
    return runtime::Internal("METIS failed with the code " + std::to_string(result));
  }
  return PlacementOf(part, devices);
}

absl::StatusOr<Placement> CutByScotch(const GroupGraph& groups,
                                      const std::vector<std::size_t>& devices) {
  if (IsTrivial(groups, devices)) return Deal(groups, devices);
  Rows<SCOTCH_Num> rows = RowsOf<SCOTCH_Num>(groups);
  SCOTCH_randomReset();
  SCOTCH_Graph graph;
  SCOTCH_Strat strategy;
  SCOTCH_graphInit(&graph);
  SCOTCH_stratInit(&strategy);
  std::vector<SCOTCH_Num> part(groups.seconds.size());
  int result =
      SCOTCH_graphBuild(&graph, 0, static_cast<SCOTCH_Num>(part.size()), rows.begin.data(), nullptr,
                        rows.weight.data(), nullptr, static_cast<SCOTCH_Num>(rows.neighbour.size()),
                        rows.neighbour.data(), rows.edge_weight.data());
  if (result == 0) {
    result =
        SCOTCH_graphPart(&graph, static_cast<SCOTCH_Num>(devices.size()), &strategy, part.data());
  }
  SCOTCH_stratExit(&strategy);
  SCOTCH_graphExit(&graph);
  if (result != 0) return runtime::Internal("Scotch could not cut the graph");
  return PlacementOf(part, devices);
}

}  // namespace shoal::placement
