// SPDX-License-Identifier: Apache-2.0
// PATCH of a resource, by what the schema says of its properties.
//
// Each member of the body is judged alone. All good: the resource as it is now, Success or 204, by
// the world's style. Some good: those are written; 200, the resource, and the messages both at its
// top and as Prop@Message.ExtendedInfo at each of the others. None good: 400.
// A property that neither the resource nor, for a settings object, the resource that it is for has
// is unknown, whatever the schema says. Members with '@'
// in their name are ignored, but for @Redfish.SettingsApplyTime of a settings object; a body of
// only such is 400 NoOperation. In arrays null removes, {} keeps, a shorter array truncates, a
// longer one appends; so it is with arrays of objects that have a member which may be written.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "mockserver/messages/message.h"
#include "mockserver/service/editor.h"

namespace shoal::mockserver {

// What a behaviour adds to the schema's judgement; any may be empty.
struct PatchRules {
  // The message for a value that the schema takes and the resource does not.
  std::function<std::optional<Json>(const std::string& pointer, const Json& value)> objection = {};
  // Takes what is not to be written into the tree; false for the rest.
  std::function<bool(const std::string& pointer, const Json& value)> take = {};
  // What follows from what was written; before the answer is made.
  std::function<void()> follow = {};
};

// REQUIRES: `body` is an object.
Response Patch(Editor& editor, ResourceId id, const Json& body, const PatchRules& rules = {});

}  // namespace shoal::mockserver
