// SPDX-License-Identifier: Apache-2.0
// The policy's epoch: a number that increases by one at each start of the learner, in a file of
// each folder of its run. A run begins with the milliseconds of the clock.
#pragma once

#include <cstdint>
#include <string>

#include "platform/runtime/clock.h"
#include "platform/runtime/status.h"

namespace shoal::learner {

// Returns the number in `path`, 0 if there is no file. Returns DATA_LOSS, which names the path, if
// the file holds no number below 2^53: inference servers would refuse the parameters of an epoch
// that went back.
absl::StatusOr<std::uint64_t> ReadEpoch(const std::string& path);
// Returns the epoch of a run whose folders have none. Replay shards and inference servers may
// remember those of a run with other folders, and take nothing of an earlier one, so it is the
// milliseconds of the clock. With `deterministic` it is 1: such runs are compared bit by bit.
std::uint64_t FirstEpoch(bool deterministic, const runtime::Clock& clock);
// Returns once the number is on disk.
absl::Status WriteEpoch(const std::string& path, std::uint64_t epoch);

}  // namespace shoal::learner
