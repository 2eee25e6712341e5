// SPDX-License-Identifier: Apache-2.0
// PATCH of a resource, by what the schema says of its properties.
//
// Each member of the body is judged separately. When all are valid, the answer is the resource as
// it is now, Success or 204, by the world's style. When some are valid, those are written, and the
// answer is 200 with the resource; messages about the others are at its top and, as
// Prop@Message.ExtendedInfo, at each property concerned. When none is valid, the answer is 400.
//
// A property is unknown, whatever the schema says, when neither the resource nor, for a settings
// object, its active resource has it. Members with '@' in their name are ignored, except
// @Redfish.SettingsApplyTime of a settings object; a body with only such members is 400
// NoOperation. In arrays null removes an element, {} keeps it, a shorter array truncates, and a
// longer one appends. The same holds for arrays of objects that have a writable member.
//
// With WorldOptions::writes_oem, members of Oem objects and of resources whose type the schema does
// not know may be written where they exist, in the JSON type that they have; null and {} say
// nothing of a type. Links, actions and what names the resource are never written.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "mockserver/messages/message.h"
#include "mockserver/service/editor.h"

namespace shoal::mockserver {

// What a behaviour adds to the schema's judgement. Each function may be empty.
struct PatchRules {
  // Returns a message when the schema allows the value but the resource does not.
  std::function<std::optional<Json>(const std::string& pointer, const Json& value)> objection = {};
  // Takes a value that must not be written into the tree and returns true; returns false for any
  // other value.
  std::function<bool(const std::string& pointer, const Json& value)> take = {};
  // Runs after the values are written and before the answer is made, for the consequences of the
  // change.
  std::function<void()> follow = {};
};

// REQUIRES: `body` is an object.
Response Patch(Editor& editor, ResourceId id, const Json& body, const PatchRules& rules = {});

}  // namespace shoal::mockserver
