// SPDX-License-Identifier: Apache-2.0
// What `shoal capture` prints of captures, checks and differences. Every text ends with a newline.
#pragma once

#include <cstddef>
#include <string>

#include "redfish/capture/capture_check.h"
#include "redfish/capture/capture_difference.h"
#include "redfish/capture/capture_import.h"

namespace shoal::cli {

// A line a fault and a dangling member, `listed` of each at most; the last line counts.
std::string TextOf(const redfish::CaptureCheck& check, std::size_t listed);

// "+ URI", "- URI", "~ URI" with, unless `names_only`, a line a property below; the last line
// counts.
std::string TextOf(const redfish::CaptureDifference& difference, bool names_only);

// Name, digest, counts, and resources by type, most first.
std::string TextOf(const redfish::ImportedCapture& imported);

}  // namespace shoal::cli
