// SPDX-License-Identifier: Apache-2.0
// How fast a run goes: tokens a second over the last steps and over all, and how long the rest
// takes.
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
  // `done`: how much of the run is over, 0 to 1.
  void Start(runtime::TimePoint now, double done);
  // A step ended that took `tokens` in.
  void Add(runtime::TimePoint now, std::int64_t tokens, double done);
  // What took the time since the last call was no step: rates leave it out, the rest does not.
  void Skip(runtime::TimePoint now);

  // 0 before the first step.
  double tokens_per_second() const;
  double overall() const;
  // As the run so far went; 0 before the first step.
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
