// SPDX-License-Identifier: Apache-2.0
// Packs a capture into one archive, as this repository ships them.
#pragma once

#include <string>
#include <string_view>

#include "platform/runtime/status.h"
#include "redfish/capture/archive.h"
#include "redfish/capture/capture_import.h"

namespace shoal::redfish {

// Returns the bytes of a .tar.xz of <name>/redfish/v1/..., <name>/manifest.json and <name>/LICENSE,
// which holds `licence`. The same capture, manifest and licence give the same bytes.
// INVALID_ARGUMENT for a `name` that cannot be a file's, an empty licence, or a URI that cannot be
// the path of a file; INTERNAL.
absl::StatusOr<std::string> PackCapture(const ImportedCapture& imported, const std::string& name,
                                        std::string_view licence, const PackObserver& observer);

}  // namespace shoal::redfish
