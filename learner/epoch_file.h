// SPDX-License-Identifier: Apache-2.0
// The policy's epoch: a number that increases by one at each start of the learner, in a file of
// each folder of its run.
#pragma once

#include <cstdint>
#include <string>

#include "platform/runtime/status.h"

namespace shoal::learner {

// Returns the number in `path`, 0 if there is no file. Returns DATA_LOSS, which names the path, if
// the file holds no number below 2^53: inference servers would refuse the parameters of an epoch
// that went back.
absl::StatusOr<std::uint64_t> ReadEpoch(const std::string& path);
// Returns once the number is on disk.
absl::Status WriteEpoch(const std::string& path, std::uint64_t epoch);

}  // namespace shoal::learner
