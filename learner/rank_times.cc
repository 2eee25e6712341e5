// SPDX-License-Identifier: Apache-2.0
#include "learner/rank_times.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <span>

namespace shoal::learner {

double RankTimes::straggler_ratio() const {
  const double sum = std::accumulate(working_seconds.begin(), working_seconds.end(), 0.0);
  if (sum <= 0) return 1;
  return *std::max_element(working_seconds.begin(), working_seconds.end()) *
         static_cast<double>(working_seconds.size()) / sum;
}

RankStopwatch::RankStopwatch(collectives::GradientReducer& reducer, const runtime::Clock& clock)
    : reducer_(reducer), clock_(clock), began_(clock.Now()), before_(reducer.communication()) {}

absl::StatusOr<RankTimes> RankStopwatch::Stop() {
  RankTimes times;
  if (reducer_.world_size() == 1) return times;
  const collectives::Communication after = reducer_.communication();
  times.communication_seconds = after.seconds - before_.seconds;
  times.communication_bytes = static_cast<double>(after.bytes - before_.bytes);
  const double all = std::chrono::duration<double>(clock_.Now() - began_).count();
  times.working_seconds.resize(static_cast<std::size_t>(reducer_.world_size()));
  times.working_seconds[static_cast<std::size_t>(reducer_.rank())] =
      std::max(0.0, all - times.communication_seconds);
  SHOAL_RETURN_IF_ERROR(reducer_.AllReduceSum(std::span<double>(times.working_seconds)));
  return times;
}

}  // namespace shoal::learner
