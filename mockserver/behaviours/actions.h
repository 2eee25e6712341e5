// SPDX-License-Identifier: Apache-2.0
// POST to an action's target: judges the parameters by the schema and by what the resource allows.
#pragma once

#include <vector>

#include "mockserver/messages/message.h"
#include "mockserver/service/editor.h"
#include "mockserver/service/world.h"

namespace shoal::mockserver {

// Returns whether the schema defines the action on the resource that has it.
bool IsDefined(const Editor& editor, const World::Action& action);

// Returns messages about what is wrong with the parameters, or none. REQUIRES: IsDefined.
std::vector<Json> JudgeParameters(const Editor& editor, const World::Action& action,
                                  const Json& parameters);

}  // namespace shoal::mockserver
