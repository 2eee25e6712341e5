// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/placement_options.h"

#include "placement/gradual_placement.h"

namespace shoal::actor {

void PlacementOptions::Visit(runtime::Visitor& visitor) {
  constexpr double kMostGroups = 1000;
  visitor.Knob("graphs", graphs,
               {.help = "files of graphs, of which each episode draws one; none: random networks"});
  visitor.Knob(
      "devices", devices,
      {.help = "files of devices, of which each episode draws one; none: random machines"});
  visitor.Knob("least_groups", least_groups,
               {.help = "groups of the smallest random network", .min = 1, .max = kMostGroups});
  visitor.Knob(
      "most_groups", most_groups,
      {.help = "groups of the largest random network, about", .min = 1, .max = kMostGroups});
  visitor.Knob("choices", choices,
               {.help = "devices that an action chooses from, those of the shortest step so far",
                .min = 1,
                .max = static_cast<double>(placement::kMostChoices)});
}

}  // namespace shoal::actor
