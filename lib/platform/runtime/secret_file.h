// SPDX-License-Identifier: Apache-2.0
// Secrets that come from files, so that no process list and no configuration shows them.
#pragma once

#include <string>

#include "platform/runtime/status.h"

namespace shoal::runtime {

// The first line of `path`, without its end. FAILED_PRECONDITION naming `path` when that is empty;
// otherwise as of ReadFile (atomic_file.h).
absl::StatusOr<std::string> ReadSecret(const std::string& path);

}  // namespace shoal::runtime
