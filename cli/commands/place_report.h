// SPDX-License-Identifier: Apache-2.0
// What `shoal place` says of the placements that it has tried: a text, a page and a JSON file.
//
// Pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "placement/device_set.h"
#include "placement/graph.h"
#include "placement/peers.h"
#include "placement/simulator.h"

namespace shoal::cli {

struct DeviceUse {
  std::size_t operations = 0;
  double busy_seconds = 0;
  double peak_bytes = 0;
  // The names of its groups; of many, the first and the last.
  std::string groups;
};

// REQUIRES: there is a peer, and the best one's step fits.
struct PlaceAnswer {
  std::vector<placement::Peer> peers;
  std::size_t best = 0;
  std::vector<placement::Limit> limits;
  std::vector<DeviceUse> uses;
  // Sentences about what was not done as the flags say.
  std::vector<std::string> notes;

  const placement::Peer& Best() const { return peers[best]; }
};

// REQUIRES: the latest Run of `simulator` is of `placement`.
std::vector<DeviceUse> UsesOf(const placement::Graph& graph, const placement::Placement& placement,
                              const placement::Simulator& simulator);

// A step as "12.345 ms", or by how much it does not fit.
std::string StepText(const placement::Step& step);

// What the command prints.
std::string DescribePlacement(const placement::Graph& graph, const placement::DeviceSet& devices,
                              const PlaceAnswer& answer);

// The page as HTML. REQUIRES: the latest Run of `simulator` is of the best placement.
std::string PlacementPage(const placement::Graph& graph, const placement::DeviceSet& devices,
                          const PlaceAnswer& answer, const placement::Simulator& simulator);

// The device of each group and how each method improved, as JSON, without any wall time, so that
// the same seed gives the same text. placement/placement_file.h reads it.
std::string PlacementText(const placement::Graph& graph, const placement::DeviceSet& devices,
                          const PlaceAnswer& answer);

}  // namespace shoal::cli
