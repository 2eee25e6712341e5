// SPDX-License-Identifier: Apache-2.0
// POST to an action's target: checks the parameters, then calls the action's handler.
//
// Handlers are one noun a file (power.h) and are listed once, in actions.cc.
#pragma once

#include "mockserver/editor.h"
#include "mockserver/message.h"
#include "mockserver/world.h"

namespace shoal::mockserver {

// `parameters` is an object whose members the schema and the resource's allowable values accept.
using ActionHandler = Response (*)(Editor& editor, const World::Action& action,
                                   const Json& parameters);

// 400 for a body or parameters that do not fit, 404 ActionNotSupported for an action that has no
// handler, otherwise the handler's answer.
Response PostAction(Editor& editor, const World::Action& action, const Request& request);

// Success in the world's style, for handlers.
Response ActionDone(const Editor& editor);

}  // namespace shoal::mockserver
