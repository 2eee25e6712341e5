// SPDX-License-Identifier: Apache-2.0
// For tests: the process dies by SIGKILL after it stored an item, and may have given it out, but
// before it acknowledged it. Once a run: a marker file says that it has happened.
//
// Thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "platform/runtime/clock.h"
#include "platform/runtime/mutex.h"

namespace shoal::replay {

class AcknowledgementFault {
 public:
  // `at`: which acknowledgement is withheld, counted from 1; 0: none. None either when `marker`
  // exists.
  AcknowledgementFault(std::int64_t at, std::string marker, runtime::Clock& clock);

  // Counts one acknowledgement. True: do not send it.
  bool Withhold() ABSL_LOCKS_EXCLUDED(mutex_);
  // Dies 300 ms after Withhold said true.
  void DieIfDue() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  const std::string marker_;
  const std::int64_t at_;
  runtime::Clock& clock_;

  runtime::Mutex mutex_;
  std::int64_t counted_ ABSL_GUARDED_BY(mutex_) = 0;
  std::optional<runtime::TimePoint> due_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace shoal::replay
