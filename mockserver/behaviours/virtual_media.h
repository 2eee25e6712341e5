// SPDX-License-Identifier: Apache-2.0
// Virtual media: an image is inserted by its URI into a slot that is empty, and ejected again.
//
// InsertMedia: 409 when something is in the slot; 400 for an image that is no URI with a host or a
// path. EjectMedia: an empty slot stays as it is. The record of a boot from Cd has as its "image"
// that of the first slot for CDs, of the system or of its managers, that has one inserted.
#pragma once

#include "mockserver/service/handler.h"

namespace shoal::mockserver {

void AddVirtualMedia(HandlerTable& handlers);

}  // namespace shoal::mockserver
