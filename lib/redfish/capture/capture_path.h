// SPDX-License-Identifier: Apache-2.0
// Finds a capture that a flag, a cluster file or a request names.
//
// A capture can be named in three ways, which are the same everywhere: by its name in a data folder
// ("dell-r750"), by the path of an archive ("lab/rack.tar.xz") or by the path of a folder
// ("captures/lab"). A name without a slash is looked for in the data folder first. Each may end in
// "~" and a number, which is the seed of a variant (variant.h): "dell-r750~7".
#pragma once

#include <string>

#include "platform/runtime/status.h"

namespace shoal::redfish {

// Returns the path of the capture called `named`, for Capture::Load; `data` is the data folder. The
// path of a variant is that of its capture with the same end.
// ArchiveName (archive.h) of the path is the capture's own name, in whichever way it was named.
// INVALID_ARGUMENT for an empty name. NOT_FOUND in one line that lists where it was looked for, and
// the closest name in the data folder, or all names where none is close.
absl::StatusOr<std::string> FindCapture(const std::string& named, const std::string& data);

}  // namespace shoal::redfish
