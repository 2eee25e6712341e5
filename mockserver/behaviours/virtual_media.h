// SPDX-License-Identifier: Apache-2.0
// Virtual media: an image is inserted by its URI into a slot that is empty, and ejected again.
//
// InsertMedia: 409 when something is in the slot; 400 for an image that is no URI with a host or a
// path. EjectMedia: an empty slot stays as it is.
#pragma once

#include <string>

#include "mockserver/behaviours/handler.h"

namespace shoal::mockserver {

// The image of the first slot for CDs, of `system` or of its managers, that has one inserted; empty
// when none has.
std::string InsertedDisc(const Editor& editor, ResourceId system);

void AddVirtualMedia(HandlerTable& handlers);

}  // namespace shoal::mockserver
