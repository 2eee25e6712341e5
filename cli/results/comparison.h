// SPDX-License-Identifier: Apache-2.0
// A page that compares runs. Runs whose configurations differ in the seed alone are one group, with
// one curve and a band over its seeds. It is one file that needs no network.
#pragma once

#include <string>
#include <vector>

#include "platform/runtime/status.h"

namespace shoal::cli {

// Writes the page that compares the runs in these folders to `path`. Runs that have not ended are
// drawn as far as they are. Returns NOT_FOUND for a folder without a run, and DATA_LOSS where a
// file of a run holds something unexpected.
absl::Status WriteComparison(const std::vector<std::string>& run_paths, const std::string& path);

}  // namespace shoal::cli
