// SPDX-License-Identifier: Apache-2.0
// Measures how the ranks of a learner spend one update: each rank's own work, and the time in which
// this rank did nothing but communicate.
//
//   RankStopwatch stopwatch(reducer, clock);
//   ...                                                       // the update
//   SHOAL_ASSIGN_OR_RETURN(RankTimes times, stopwatch.Stop());   // on all ranks
#pragma once

#include <cstdint>
#include <vector>

#include "platform/runtime/clock.h"
#include "platform/runtime/status.h"
#include "rl/collectives/gradient_reducer.h"

namespace shoal::learner {

struct RankTimes {
  // The seconds of each rank outside collective calls, by rank. Empty for a group of one.
  std::vector<double> working_seconds;
  // What this rank spent within collective calls. It includes waiting for slower ranks.
  double communication_seconds = 0;
  // Of the arrays that this rank passed to collective calls.
  double communication_bytes = 0;

  // The working time of the slowest rank in units of the mean: 1 when all are equally fast, and for
  // a group of one.
  double straggler_ratio() const;
};

// Not thread-safe: it is used by the thread that makes the collective calls.
class RankStopwatch {
 public:
  // Starts. Both outlive this.
  RankStopwatch(collectives::GradientReducer& reducer, const runtime::Clock& clock);
  // Exchanges the times, which takes one collective call; all ranks must make it. Returns the
  // reducer's errors. For a group of one it calls nothing.
  absl::StatusOr<RankTimes> Stop();

 private:
  collectives::GradientReducer& reducer_;
  const runtime::Clock& clock_;
  const runtime::TimePoint began_;
  const collectives::Communication before_;
};

}  // namespace shoal::learner
