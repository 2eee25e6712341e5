// SPDX-License-Identifier: Apache-2.0
// Firmware updates: UpdateService.SimpleUpdate and StartUpdate (DSP0266, "Update service").
//
// The name of the image tells the version: the first number with a dot in the last segment of
// ImageURI, else the first number ("bios-1.1.bin" is 1.1). Targets name inventory items, or systems
// and managers for the firmware that those run; 400 when an item is not Updateable. Without targets
// the name tells the item too: a word "bios" or "bmc", or one of the item's Id or Name. An image
// whose name tells no version or no item is accepted, and its task fails.
//
// An update is a task "Firmware update" (tasks.h), at the end of which the Version of the items,
// and nothing else in the inventory, is the image's. A system's BiosVersion and a manager's
// FirmwareVersion follow the item that is theirs: linked as their ActiveSoftwareImage, naming them
// as RelatedItem, or, in a capture without such links, of the same version. A BIOS changes when its
// system boots, whatever the apply time; all else at once, or with OnReset at the next boot. With
// OnStartUpdateRequest the update is kept, at most kMaximumStaged of them, until StartUpdate.
//
// "Updated, and well" is {"all": [{"equals": {"uri": ITEM, "pointer": "/Version", "value": V}},
// {"happened": {"kind": "task", "detail": {"Name": "Firmware update", "TaskState":
// "Completed"}}}]}.
#pragma once

#include <cstddef>

#include "mockserver/service/handler.h"

namespace shoal::mockserver {

inline constexpr std::size_t kMaximumStaged = 16;

void AddFirmware(HandlerTable& handlers);

}  // namespace shoal::mockserver
