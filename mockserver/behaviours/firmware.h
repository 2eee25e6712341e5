// SPDX-License-Identifier: Apache-2.0
// Firmware updates: UpdateService.SimpleUpdate and StartUpdate, and images that clients push
// (DSP0266, "Update service", "Multipart HTTP push updates").
//
// The image's name gives the version: the first number with a dot in the last segment of ImageURI,
// else the first number ("bios-1.1.bin" is 1.1). Targets name inventory items, or systems and
// managers for the firmware that they run; an item that is not Updateable is 400. Without targets
// the image's name also gives the item: by the word "bios" or "bmc", or by a word of the item's Id
// or Name. An image whose name gives no version or no item is accepted, and its task fails.
//
// An update is a task "Firmware update" (tasks.h), which shows the action as its Payload. When it
// ends, the Version of the items, and nothing else in the inventory, becomes the image's. A
// system's BiosVersion and a manager's FirmwareVersion follow their own item: the one that they
// link as ActiveSoftwareImage, the one that names them as RelatedItem or, in a capture without such
// links, the one of the same version. A BIOS changes when its system boots, whatever the apply
// time. Everything else changes at once, or with OnReset at the next boot. With
// OnStartUpdateRequest the update is kept until StartUpdate; at most kMaximumStaged are kept.
//
// An image is pushed by POST of a form (multipart.h) to the service's MultipartHttpPushUri. The
// part UpdateParameters is a JSON object with Targets and an apply time, and UpdateFile is the
// image; its file name stands for the image's. A missing or malformed part is 400, an image larger
// than MaxImageSizeBytes 413, and a body that is no form 415. Where the service lists no apply
// times, Immediate and OnReset are supported, and HttpPushUriOptions may make OnReset the default.
// The bytes of an image are not looked at.
//
// "The update has succeeded" is {"all": [{"equals": {"uri": ITEM, "pointer": "/Version", "value":
// V}}, {"happened": {"kind": "task", "detail": {"Name": "Firmware update", "TaskState":
// "Completed"}}}]}.
#pragma once

#include <cstddef>
#include <string_view>

#include "mockserver/service/handler.h"

namespace shoal::mockserver {

inline constexpr std::size_t kMaximumStaged = 16;

// Returns whether the canonical `uri` is the service's MultipartHttpPushUri.
bool IsPushUri(const Editor& editor, std::string_view uri);

void AddFirmware(HandlerTable& handlers);

}  // namespace shoal::mockserver
