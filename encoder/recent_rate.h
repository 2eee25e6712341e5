// SPDX-License-Identifier: Apache-2.0
// Measures the speed of a run: tokens a second over the last steps and over all, and the time that
// is left.
//
// Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

#include "platform/runtime/clock.h"

namespace shoal::encoder {

class RecentRate {
 public:
  // Starts the clock. `done` is how much of the run is over, 0 to 1.
  void Start(runtime::TimePoint now, double done);
  // Adds a step that ended now and took in `tokens`.
  void Add(runtime::TimePoint now, std::int64_t tokens, double done);
  // Says that the time since the last call was not spent on a step. Rates leave it out, but the
  // time that is left includes such pauses.
  void Skip(runtime::TimePoint now);

  // 0 before the first step.
  double tokens_per_second() const;
  double overall() const;
  // Seconds left if the run goes on as before. 0 before the first step.
  double seconds_left() const { return seconds_left_; }

 private:
  static constexpr std::size_t kSteps = 32;
  struct Stretch {
    double seconds = 0;
    double tokens = 0;
  };

  runtime::TimePoint begin_ = {};
  runtime::TimePoint last_ = {};
  double done_at_begin_ = 0;
  double seconds_left_ = 0;
  Stretch all_;
  std::deque<Stretch> recent_;
};

}  // namespace shoal::encoder
