// SPDX-License-Identifier: Apache-2.0
// Where a capture is that somebody named: a flag, a cluster file, a request.
//
// A capture may be named in three ways, everywhere alike: by its name in a data folder
// ("dell-r750"), by the path of an archive ("lab/rack.tar.xz") or by the path of a folder
// ("captures/lab"). A name without a slash is looked for in the data folder first.
#pragma once

#include <string>

#include "platform/runtime/status.h"

namespace shoal::redfish {

// The path of the capture that `named` means, for Capture::Load; `data` is the data folder. What a
// capture is called, however it was named, is ArchiveName (archive.h) of it.
// NOT_FOUND in one line that lists where it was looked for, and the name in the data folder that is
// closest to it, or all of them where none is close.
absl::StatusOr<std::string> FindCapture(const std::string& named, const std::string& data);

}  // namespace shoal::redfish
