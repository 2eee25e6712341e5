// SPDX-License-Identifier: Apache-2.0
// What a search chooses for each group of a graph: a device, or to follow its neighbours.
//
// To follow means to be on the device that has the most of the bytes which the group exchanges with
// groups before it in GroupGraph::order; of several such devices the first, and where the group
// exchanges nothing with any of them, the device of the group just before it. The first group
// follows to device 0. A distribution over devices alone has to choose the same one of several
// equal devices for each group of a run of groups, one by one; with this choice the run moves when
// its first group does.
//
// Immutable, so it is safe in several threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "placement/device_set.h"
#include "placement/graph.h"
#include "placement/group_graph.h"

namespace shoal::placement {

// One for each group: below devices that device, and `devices` to follow. A search keeps thousands
// of them, of up to a million groups, so a choice is a byte.
using Choices = std::vector<std::uint8_t>;
static_assert(kMostDevices <= 255);

class ChoiceDecoder {
 public:
  // Nothing of `groups` is kept. REQUIRES: devices >= 1.
  ChoiceDecoder(const GroupGraph& groups, std::size_t devices);

  // REQUIRES: there is one choice <= devices for each group.
  Placement Decode(const Choices& choices) const;

  // The choices of `placement` that follow wherever that leads to the same device. REQUIRES: there
  // is one device < devices for each group.
  Choices Encode(const Placement& placement) const;

 private:
  // Where a group that follows goes. `placement` has the groups before it, and `last` is the device
  // of the one just before it.
  std::size_t Followed(std::size_t group, const Placement& placement, std::size_t last) const;

  std::size_t devices_;
  std::vector<std::size_t> order_;
  // By group: each group before it that it exchanges bytes with, and how many.
  std::vector<std::vector<std::pair<std::size_t, double>>> neighbours_;
};

}  // namespace shoal::placement
