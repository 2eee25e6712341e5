// SPDX-License-Identifier: Apache-2.0
// runs/<name>/report.html, one file that needs no network. It shows success by goal and vendor,
// learning curves, how training went, speed, staleness and where the time went. Everything else
// that was measured, the full evaluation and the configuration are folded away. The report is made
// from the run directory alone, at any time, also while the run goes on.
#pragma once

#include <string>

#include "platform/runtime/status.h"

namespace shoal::cli {

// Writes the report and returns its path. Returns NOT_FOUND when `run_path` holds no run.
absl::StatusOr<std::string> WriteReport(const std::string& run_path);

}  // namespace shoal::cli
