// SPDX-License-Identifier: Apache-2.0
// SIGINT and SIGTERM for a program that works in steps and looks between them: no code runs in a
// signal handler, and no thread waits.
//
//   const StopSignals signals;              // before any thread exists
//   while (!signals.pending()) Step();
//   Save();
//
// As long as one lives the two end nothing. Used by the thread that made it, one at a time.
#pragma once

#include <signal.h>

namespace shoal::runtime {

class StopSignals {
 public:
  // Blocks both, for this thread and those that it starts from now on.
  StopSignals();
  // Takes what is pending; what comes later does what it did before.
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  // Whether one came. Once true, it stays so.
  bool pending() const;

 private:
  sigset_t signals_;
  sigset_t before_;
};

}  // namespace shoal::runtime
