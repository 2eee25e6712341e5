// SPDX-License-Identifier: Apache-2.0
// The source of time. All code that waits or takes timestamps gets a Clock; tests pass a
// ManualClock.
//
// Thread-safe.
#pragma once

#include <chrono>
#include <cstdint>

#include "platform/runtime/mutex.h"

namespace shoal::runtime {

using TimePoint = std::chrono::steady_clock::time_point;
using Duration = std::chrono::steady_clock::duration;

class Clock {
 public:
  virtual ~Clock() = default;
  // Monotonic.
  virtual TimePoint Now() const = 0;
  // Nanoseconds since the Unix epoch. They name incarnations and stamp logs; they never measure
  // durations.
  virtual std::uint64_t UnixNanos() const = 0;
  // Waits on `condition` until it is notified or Now() reaches `deadline`; the wait may end early.
  // Returns false when the deadline has passed.
  virtual bool WaitUntil(CondVar& condition, Mutex& mutex, TimePoint deadline)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) = 0;
};

// The process's clock, which is never destroyed.
Clock& SystemClock();

}  // namespace shoal::runtime
