// SPDX-License-Identifier: Apache-2.0
#include "platform/runtime/stop_signals.h"

#include <pthread.h>

#include <ctime>

namespace shoal::runtime {

StopSignals::StopSignals() {
  ::sigemptyset(&signals_);
  ::sigaddset(&signals_, SIGINT);
  ::sigaddset(&signals_, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &signals_, &before_);
}

StopSignals::~StopSignals() {
  const timespec at_once = {};
  while (::sigtimedwait(&signals_, nullptr, &at_once) > 0) {
  }
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

bool StopSignals::pending() const {
  sigset_t waiting;
  ::sigemptyset(&waiting);
  ::sigpending(&waiting);
  return ::sigismember(&waiting, SIGINT) == 1 || ::sigismember(&waiting, SIGTERM) == 1;
}

}  // namespace shoal::runtime
