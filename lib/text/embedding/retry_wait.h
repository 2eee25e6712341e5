// SPDX-License-Identifier: Apache-2.0
// How long to leave alone what failed: a second, after each further failure twice as long, 30
// seconds at most. Not thread-safe.
#pragma once

#include <algorithm>
#include <chrono>

#include "platform/runtime/clock.h"

namespace shoal::embedding {

class RetryWait {
 public:
  // `clock` outlives this.
  explicit RetryWait(const runtime::Clock& clock) : clock_(clock) {}

  bool waits() const { return clock_.Now() < until_; }
  void Failed() {
    until_ = clock_.Now() + next_;
    next_ = std::min(next_ * 2, kLongest);
  }
  void Succeeded() { next_ = kShortest; }

 private:
  static constexpr runtime::Duration kShortest = std::chrono::seconds(1);
  static constexpr runtime::Duration kLongest = std::chrono::seconds(30);

  const runtime::Clock& clock_;
  runtime::Duration next_ = kShortest;
  runtime::TimePoint until_ = runtime::TimePoint::min();
};

}  // namespace shoal::embedding
