// SPDX-License-Identifier: Apache-2.0
// Puts a damaged SQLite file aside, for whoever wants to look at it.
//
// It goes, with its log, to the first that is free of "<path>.damaged" and "<path>.damaged.2" to
// "<path>.damaged.4"; where none is, in place of the one that was written to least recently. What
// is there and is no plain file stays.
#pragma once

#include <string>

#include "platform/runtime/status.h"

namespace shoal::embedding {

inline constexpr int kMaxDamagedFiles = 4;

// Where it is now. FAILED_PRECONDITION with the system's reason: it cannot be moved. REQUIRES: no
// other process does the same.
absl::StatusOr<std::string> MoveAside(const std::string& path);

}  // namespace shoal::embedding
