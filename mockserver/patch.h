// SPDX-License-Identifier: Apache-2.0
// PATCH of a resource, by what the schema says of its properties.
//
// Each member of the body is judged alone. All good: the resource as it is now, Success or 204, by
// the world's style. Some good: those are written; 200, the resource, and the messages both at its
// top and as Prop@Message.ExtendedInfo at each of the others. None good: 400.
// A property that the resource does not have is unknown, whatever the schema says. Members with '@'
// in their name are ignored; a body of only such is 400 NoOperation. In arrays null removes, {}
// keeps, a shorter array truncates.
#pragma once

#include "mockserver/editor.h"
#include "mockserver/message.h"

namespace shoal::mockserver {

// REQUIRES: `body` is an object.
Response Patch(Editor& editor, ResourceId id, const Json& body);

}  // namespace shoal::mockserver
