// SPDX-License-Identifier: Apache-2.0
// SIGINT, SIGTERM and SIGHUP for a program that works in steps. The program checks or waits for
// them between two steps; no code runs in a signal handler, and no thread is needed.
//
//   const StopSignals signals;              // before any thread exists
//   while (!signals.pending()) Step();
//   Save();
//
// While an object exists, these signals do not end the process. SIGCHLD is blocked with them, so
// that Wait can see that a child ended. SIGPIPE is ignored from then on, even after the object is
// gone. At most one object may exist at a time, and only the thread that made it may use it.
#pragma once

#include <signal.h>

#include "platform/runtime/clock.h"

namespace shoal::runtime {

class StopSignals {
 public:
  // Blocks the signals for this thread and for those that it starts later.
  StopSignals();
  // Discards the pending signals; later signals have their former effect.
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  // Returns whether a stop signal is pending. It stays true until Wait takes the signal.
  bool pending() const;
  // Waits for a stop signal, takes it and returns true. Returns false when a child ended or `limit`
  // has passed. REQUIRES: an object exists.
  static bool Wait(Duration limit);

 private:
  sigset_t before_;
};

}  // namespace shoal::runtime
