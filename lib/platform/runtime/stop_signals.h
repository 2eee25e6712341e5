// SPDX-License-Identifier: Apache-2.0
// SIGINT, SIGTERM and SIGHUP for a program that works in steps: it looks or waits for them between
// two steps, no code runs in a signal handler, and no thread is needed.
//
//   const StopSignals signals;              // before any thread exists
//   while (!signals.pending()) Step();
//   Save();
//
// While an object lives these signals end nothing; SIGCHLD is held back with them, so that Wait can
// see that a child ended, and SIGPIPE is ignored from then on. One object at a time, used by the
// thread that made it.
#pragma once

#include <signal.h>

#include "platform/runtime/clock.h"

namespace shoal::runtime {

class StopSignals {
 public:
  // Blocks the signals for this thread and those that it starts from now on.
  StopSignals();
  // Takes what is pending; signals that come later do what they did before.
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  // Whether a signal to stop came. It stays true until Wait takes the signal.
  bool pending() const;
  // Waits until a signal to stop came, which is taken (true), or until a child ended or `limit`
  // passed (false). REQUIRES: an object lives.
  static bool Wait(Duration limit);

 private:
  sigset_t before_;
};

}  // namespace shoal::runtime
