// SPDX-License-Identifier: Apache-2.0
// Virtual media: an image is inserted by its URI into an empty slot, and ejected again.
//
// InsertMedia: 409 when the slot is occupied; 400 for an image that is neither a URI with a host
// nor a path. EjectMedia: an empty slot stays as it is. The record of a boot from Cd has an
// "image": the image of the first slot for CDs, of the system or of its managers, in which one is
// inserted.
#pragma once

#include "mockserver/service/handler.h"

namespace shoal::mockserver {

void AddVirtualMedia(HandlerTable& handlers);

}  // namespace shoal::mockserver
