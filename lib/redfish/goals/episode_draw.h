// SPDX-License-Identifier: Apache-2.0
// What is drawn for an episode of a goal on one capture: values of its parameters, a start and a
// sentence. AppliedGoal::DrawEpisode (goal.h) puts them together.
//
// What is drawn depends on the arguments and on the state of `random` alone.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "platform/runtime/random.h"
#include "redfish/goals/goal.h"
#include "redfish/goals/goal_binding.h"

namespace shoal::redfish {

// Draws a fresh value for each parameter, none that `taken` lists for it. A second draw, which the
// goal does not ask for, is under "other:<name>".
TextValues DrawValues(const std::map<std::string, std::string>& parameters,
                      const std::map<std::string, nlohmann::json>& taken, runtime::Random& random);
// Draws one of the goal's phrasings, adds noise, and fills in `values`. Half of the sentences of
// training begin with a capital.
std::string DrawText(const AppliedGoal::Binding& binding, TextValues values, Split split,
                     const TextNoise& noise, runtime::Random& random);

}  // namespace shoal::redfish
