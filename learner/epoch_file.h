// SPDX-License-Identifier: Apache-2.0
// The policy's epoch: a number in a file that increases by one at each start of the learner.
#pragma once

#include <cstdint>
#include <string>

#include "platform/runtime/status.h"

namespace shoal::learner {

// Adds one to the number in `path` (0 if there is no file) and returns it once the file is on disk.
// Returns DATA_LOSS, which names the path, if the file holds no number: inference servers would
// refuse the parameters of an epoch that went back.
absl::StatusOr<std::uint64_t> BumpEpoch(const std::string& path);

}  // namespace shoal::learner
