// SPDX-License-Identifier: Apache-2.0
// Measures how ranks share one update: each rank's own work and data, and the time in which this
// rank communicated, and did nothing else.
//
//   RankStopwatch stopwatch(reducer, clock);
//   ...                                                       // the update
//   SHOAL_ASSIGN_OR_RETURN(RankTimes times, stopwatch.Stop(rows));   // on all ranks
#pragma once

#include <cstdint>
#include <vector>

#include "platform/runtime/clock.h"
#include "platform/runtime/status.h"
#include "rl/collectives/gradient_reducer.h"

namespace shoal::collectives {

struct RankTimes {
  // The seconds of each rank in which it did not wait for a collective call, by rank. Empty for a
  // group of one.
  std::vector<double> working_seconds;
  // The rows that each rank trained on, in the same way.
  std::vector<double> rows;
  // What this rank spent within collective calls. It includes waiting for slower ranks.
  double communication_seconds = 0;
  // What of this the rank did nothing but wait: all but what its own work has hidden.
  double exposed_communication_seconds = 0;
  // Of the arrays that this rank passed to collective calls.
  double communication_bytes = 0;

  // The working time of the slowest rank in units of the mean: 1 when all are equally fast, and for
  // a group of one.
  double straggler_ratio() const;
  // The same for the rows: how unequal the data of the ranks are. A rank whose working time is in
  // the same proportion is slow because it has more to do.
  double data_skew() const;
};

// Not thread-safe: no collective call may run meanwhile.
class RankStopwatch {
 public:
  // Starts. Both outlive this.
  RankStopwatch(GradientReducer& reducer, const runtime::Clock& clock);
  // Exchanges the times and the number of rows that this rank trained on, which takes one
  // collective call; all ranks must make it. For `overlapped_seconds` of its time within calls,
  // which another thread made (overlapped_sums.h), the rank worked, too. Returns the reducer's
  // errors. For a group of one it calls nothing.
  absl::StatusOr<RankTimes> Stop(double rows, double overlapped_seconds = 0);

 private:
  GradientReducer& reducer_;
  const runtime::Clock& clock_;
  const runtime::TimePoint began_;
  const Communication before_;
};

}  // namespace shoal::collectives
