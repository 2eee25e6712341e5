// SPDX-License-Identifier: Apache-2.0
// A group of ranks for a measurement: processes of this machine that this one forks, as rank 0.
#pragma once

#include <cstdint>
#include <functional>

#include "platform/runtime/status.h"
#include "rl/collectives/launch.h"

namespace shoal::bench {

// Runs `work` once for each rank of a group of `ranks` over loopback, that of rank 0 in this
// process, and waits for all. Returns the error of rank 0, or INTERNAL if another rank has failed.
// REQUIRES: this process has started no threads yet.
absl::Status RunForkedRanks(
    std::int64_t ranks,
    const std::function<absl::Status(const collectives::RankEnvironment& environment)>& work);

}  // namespace shoal::bench
