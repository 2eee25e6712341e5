// SPDX-License-Identifier: Apache-2.0
#include "rl/collectives/restarts.h"

#include <algorithm>

namespace shoal::collectives {

runtime::Duration Restarts::Take() {
  back_off_ = in_a_row_ == 0 ? min_back_off_ : std::min(2 * back_off_, max_back_off_);
  ++in_a_row_;
  return back_off_;
}

std::uint64_t NextEpoch(std::uint64_t epoch, runtime::Clock& clock) {
  return std::max(epoch + 1, clock.UnixNanos() / 1'000'000);
}

}  // namespace shoal::collectives
