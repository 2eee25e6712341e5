// SPDX-License-Identifier: Apache-2.0
// Section [environment.placement] of the configuration: the networks that are placed, and on what.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "platform/runtime/config.h"

namespace shoal::actor {

struct PlacementOptions {
  // Files of graphs, of which each episode draws one; empty: each draws a random network.
  std::vector<std::string> graphs = {};
  // Files of devices, of which each episode draws one; empty: each draws a random machine.
  std::vector<std::string> devices = {};
  // About the least and the most groups of a random network.
  std::int64_t least_groups = 6;
  std::int64_t most_groups = 40;
  // The devices that an action chooses from: those with which the step so far takes the least time.
  std::int64_t choices = 4;

  void Visit(runtime::Visitor& visitor);
};

}  // namespace shoal::actor
