// SPDX-License-Identifier: Apache-2.0
// runs/<name>/report.html, one file that needs no network: success by goal and vendor, learning
// curves, speed, staleness and where the time went; all else that was measured, the evaluation in
// full and the configuration are folded away. Made from the run directory alone, at any time, also
// while the run goes on.
#pragma once

#include <string>

#include "platform/runtime/status.h"

namespace shoal::cli {

// NOT_FOUND when `run_path` holds no run. Returns the report's path.
absl::StatusOr<std::string> WriteReport(const std::string& run_path);

}  // namespace shoal::cli
