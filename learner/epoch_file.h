// SPDX-License-Identifier: Apache-2.0
// The policy's epoch across restarts: a number in a file, one higher at each start of the learner.
#pragma once

#include <cstdint>
#include <string>

#include "platform/runtime/status.h"

namespace shoal::learner {

// Adds one to the number in `path` (0 when there is no file) and returns it, once the file is safe.
// DATA_LOSS naming the path when it holds no number: an epoch that went back would be refused by
// every inference server.
absl::StatusOr<std::uint64_t> BumpEpoch(const std::string& path);

}  // namespace shoal::learner
