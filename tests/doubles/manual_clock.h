// SPDX-License-Identifier: Apache-2.0
// A Clock that stands still until the test moves it.
//
// Thread-safe. A waiter wakes when Advance passes its deadline or its condition is notified.
// `waits` counts the calls of WaitUntil, which tells a thread that waits from one that has not come
// so far.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "platform/runtime/clock.h"

namespace shoal::doubles {

class ManualClock final : public runtime::Clock {
 public:
  runtime::TimePoint Now() const override {
    return runtime::TimePoint(std::chrono::nanoseconds(nanos_.load()));
  }
  std::uint64_t UnixNanos() const override { return static_cast<std::uint64_t>(nanos_.load()); }
  // Polls in real time with a limit, so that a test that forgets to advance the clock ends, too.
  bool WaitUntil(runtime::CondVar& condition, runtime::Mutex& mutex,
                 runtime::TimePoint deadline) override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    ++waits_;
    if (Now() >= deadline) return false;
    condition.WaitUntil(mutex, std::chrono::steady_clock::now() + std::chrono::milliseconds(1));
    return Now() < deadline;
  }

  void Advance(runtime::Duration by) {
    nanos_ += std::chrono::duration_cast<std::chrono::nanoseconds>(by).count();
  }
  std::uint64_t waits() const { return waits_.load(); }

 private:
  // Sequentially consistent, since tests read the time on one thread and advance it on another.
  std::atomic<std::int64_t> nanos_{1'000'000'000};
  std::atomic<std::uint64_t> waits_{0};
};

}  // namespace shoal::doubles
