// SPDX-License-Identifier: Apache-2.0
// Advances the instances with a real clock while nobody uses them, so that their tasks end and
// their events are sent on time.
//
// The class has a thread of its own, which checks several times a second. Thread-safe.
#pragma once

#include "mockserver/process/event_sender.h"
#include "mockserver/process/instance_table.h"
#include "platform/runtime/mutex.h"
#include "platform/runtime/thread.h"

namespace shoal::mockserver {

class WallClock {
 public:
  // Borrows `table` and `sender`.
  WallClock(InstanceTable& table, EventSender& sender);
  ~WallClock();
  WallClock(const WallClock&) = delete;
  WallClock& operator=(const WallClock&) = delete;

 private:
  void TickUntilStopped() ABSL_LOCKS_EXCLUDED(mutex_);
  void Tick();

  InstanceTable& table_;
  EventSender& sender_;

  runtime::Mutex mutex_;
  runtime::CondVar wake_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;

  // The last member, because the thread uses those above.
  runtime::Thread ticker_;
};

}  // namespace shoal::mockserver
