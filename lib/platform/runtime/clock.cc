// SPDX-License-Identifier: Apache-2.0
#include "platform/runtime/clock.h"

namespace shoal::runtime {
namespace {

class RealClock final : public Clock {
 public:
  TimePoint Now() const override { return std::chrono::steady_clock::now(); }

  std::uint64_t UnixNanos() const override {
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                          std::chrono::system_clock::now().time_since_epoch())
                                          .count());
  }

  bool WaitUntil(CondVar& condition, Mutex& mutex, TimePoint deadline) override
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    return condition.WaitUntil(mutex, deadline);
  }
};

}  // namespace

Clock& SystemClock() {
  static RealClock* const clock = new RealClock;
  return *clock;
}

}  // namespace shoal::runtime
