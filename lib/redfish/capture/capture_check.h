// SPDX-License-Identifier: Apache-2.0
// Checks whether a capture on disk is intact.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "platform/runtime/status.h"

namespace shoal::redfish {

struct CaptureCheck {
  std::int64_t resources = 0;
  // The number of recorded {"error": ...} bodies. Such a resource is absent, which is no fault.
  std::int64_t error_bodies = 0;
  bool has_manifest = false;
  // One sentence for each fault: a file that is no JSON object, a file whose checksum differs from
  // the manifest's or that the manifest lacks, a file that the manifest names and that is missing,
  // or a missing service root.
  std::vector<std::string> faults = {};
  // The members that collections list and the capture lacks. They are no faults: a GET of one is a
  // 404.
  std::vector<std::string> dangling = {};
};

// Checks an archive or a folder, and for a variant (variant.h) what it is made from; an archive
// that cannot be read at all is a fault too. NOT_FOUND when there is nothing at `path`.
absl::StatusOr<CaptureCheck> CheckCapture(const std::string& path);

}  // namespace shoal::redfish
