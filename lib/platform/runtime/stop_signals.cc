// SPDX-License-Identifier: Apache-2.0
#include "platform/runtime/stop_signals.h"

#include <pthread.h>

#include <chrono>
#include <ctime>

namespace shoal::runtime {
namespace {

constexpr int kStops[] = {SIGINT, SIGTERM, SIGHUP};

sigset_t Blocked() {
  sigset_t signals;
  ::sigemptyset(&signals);
  for (const int signal : kStops) ::sigaddset(&signals, signal);
  ::sigaddset(&signals, SIGCHLD);
  return signals;
}

}  // namespace

StopSignals::StopSignals() {
  const sigset_t signals = Blocked();
  ::pthread_sigmask(SIG_BLOCK, &signals, &before_);
  ::signal(SIGPIPE, SIG_IGN);
}

StopSignals::~StopSignals() {
  const sigset_t signals = Blocked();
  const timespec at_once = {};
  while (::sigtimedwait(&signals, nullptr, &at_once) > 0) {
  }
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

bool StopSignals::pending() const {
  sigset_t waiting;
  ::sigemptyset(&waiting);
  ::sigpending(&waiting);
  for (const int signal : kStops) {
    if (::sigismember(&waiting, signal) == 1) return true;
  }
  return false;
}

bool StopSignals::Wait(Duration limit) {
  const sigset_t signals = Blocked();
  const auto nanos = std::chrono::duration_cast<std::chrono::nanoseconds>(limit).count();
  const timespec timeout = {.tv_sec = nanos / 1'000'000'000, .tv_nsec = nanos % 1'000'000'000};
  const int signal = ::sigtimedwait(&signals, nullptr, &timeout);
  return signal > 0 && signal != SIGCHLD;
}

}  // namespace shoal::runtime
