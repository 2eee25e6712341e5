// SPDX-License-Identifier: Apache-2.0
#include "rl/collectives/rank_times.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <span>

namespace shoal::collectives {

namespace {

double LargestOverMean(const std::vector<double>& of_ranks) {
  const double sum = std::accumulate(of_ranks.begin(), of_ranks.end(), 0.0);
  if (sum <= 0) return 1;
  return *std::max_element(of_ranks.begin(), of_ranks.end()) *
         static_cast<double>(of_ranks.size()) / sum;
}

}  // namespace

double RankTimes::straggler_ratio() const { return LargestOverMean(working_seconds); }
double RankTimes::data_skew() const { return LargestOverMean(rows); }

RankStopwatch::RankStopwatch(GradientReducer& reducer, const runtime::Clock& clock)
    : reducer_(reducer), clock_(clock), began_(clock.Now()), before_(reducer.communication()) {}

absl::StatusOr<RankTimes> RankStopwatch::Stop(double rows, double overlapped_seconds) {
  RankTimes times;
  if (reducer_.world_size() == 1) return times;
  const Communication after = reducer_.communication();
  times.communication_seconds = after.seconds - before_.seconds;
  times.exposed_communication_seconds =
      std::max(0.0, times.communication_seconds - overlapped_seconds);
  times.communication_bytes = static_cast<double>(after.bytes - before_.bytes);
  const double all = std::chrono::duration<double>(clock_.Now() - began_).count();
  const auto ranks = static_cast<std::ptrdiff_t>(reducer_.world_size());
  // The seconds of all ranks, then their rows.
  std::vector<double> shared(static_cast<std::size_t>(2 * ranks));
  const auto own = static_cast<std::size_t>(reducer_.rank());
  shared[own] = std::max(0.0, all - times.exposed_communication_seconds);
  shared[own + static_cast<std::size_t>(ranks)] = rows;
  SHOAL_RETURN_IF_ERROR(reducer_.AllReduceSum(std::span<double>(shared)));
  times.working_seconds.assign(shared.begin(), shared.begin() + ranks);
  times.rows.assign(shared.begin() + ranks, shared.end());
  return times;
}

}  // namespace shoal::collectives
