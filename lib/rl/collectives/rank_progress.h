// SPDX-License-Identifier: Apache-2.0
// What a rank tells the process that launched it, in memory that both have mapped.
//
// The rank writes and the launcher reads. Each field stands for itself, so all accesses are
// relaxed.
#pragma once

#include <absl/status/status.h>

#include <atomic>
#include <cstdint>

#include "platform/runtime/status.h"

namespace shoal::collectives {

struct RankProgress {
  // GroupOptions::call_timeout in milliseconds, and 0 until the rank has joined its group.
  std::atomic<std::int64_t> call_timeout_ms{0};
  // Grows at the beginning and at the end of each collective call.
  std::atomic<std::int64_t> calls{0};
  // The code of the first error that a collective call returned, or that of joining.
  std::atomic<absl::StatusCode> failure{absl::StatusCode::kOk};
};

static_assert(std::atomic<std::int64_t>::is_always_lock_free &&
                  std::atomic<absl::StatusCode>::is_always_lock_free,
              "a lock would not be shared between processes");

// Returns an array of one for each of so many ranks, in memory that processes which are forked
// later share and that stays mapped until the process ends. RESOURCE_EXHAUSTED when the system
// refuses memory.
absl::StatusOr<RankProgress*> MapRankProgress(std::int64_t ranks);

}  // namespace shoal::collectives
