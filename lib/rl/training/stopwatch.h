// SPDX-License-Identifier: Apache-2.0
// A stopwatch that splits wall time into laps, for adding it up by phase.
//
//   Stopwatch watch;
//   ...;  report.gradient_seconds += watch.Lap();
#pragma once

#include "platform/runtime/clock.h"

namespace shoal::training {

class Stopwatch {
 public:
  // `clock` must outlive the watch.
  explicit Stopwatch(runtime::Clock& clock = runtime::SystemClock())
      : clock_(clock), since_(clock.Now()) {}

  // Returns the seconds since construction or the last Lap.
  double Lap() {
    const runtime::TimePoint now = clock_.Now();
    const std::chrono::duration<double> elapsed = now - since_;
    since_ = now;
    return elapsed.count();
  }

 private:
  runtime::Clock& clock_;
  runtime::TimePoint since_;
};

}  // namespace shoal::training
