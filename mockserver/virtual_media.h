// SPDX-License-Identifier: Apache-2.0
// Virtual media: an image is inserted by its URI into a slot that is empty, and ejected again.
#pragma once

#include "mockserver/actions.h"

namespace shoal::mockserver {

// 409 when something is in the slot; 400 for an image that is no URI with a host or a path.
Response InsertMedia(Editor& editor, const World::Action& action, const Json& parameters);

// An empty slot stays as it is.
Response EjectMedia(Editor& editor, const World::Action& action, const Json& parameters);

}  // namespace shoal::mockserver
