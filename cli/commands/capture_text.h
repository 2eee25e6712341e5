// SPDX-License-Identifier: Apache-2.0
// The texts that `shoal capture` prints about captures, checks and differences. Every text ends
// with a newline.
#pragma once

#include <cstddef>
#include <string>

#include "redfish/capture/capture_check.h"
#include "redfish/capture/capture_difference.h"
#include "redfish/capture/capture_import.h"

namespace shoal::cli {

// One line for each fault and each dangling member, at most `listed` of each. The last line has the
// counts.
std::string TextOf(const redfish::CaptureCheck& check, std::size_t listed);

// Lines "+ URI", "- URI" and "~ URI". Unless `names_only`, a line for each property follows. The
// last line has the counts.
std::string TextOf(const redfish::CaptureDifference& difference, bool names_only);

// Name, digest, counts, and the number of resources of each type, most frequent first.
std::string TextOf(const redfish::ImportedCapture& imported);

}  // namespace shoal::cli
