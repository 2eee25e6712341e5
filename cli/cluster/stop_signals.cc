// SPDX-License-Identifier: Apache-2.0
#include "cli/cluster/stop_signals.h"

#include <signal.h>

#include <chrono>
#include <ctime>

namespace shoal::cli {
namespace {

sigset_t Signals() {
  sigset_t signals;
  ::sigemptyset(&signals);
  ::sigaddset(&signals, SIGINT);
  ::sigaddset(&signals, SIGTERM);
  ::sigaddset(&signals, SIGHUP);
  ::sigaddset(&signals, SIGCHLD);
  return signals;
}

}  // namespace

void BlockStopSignals() {
  const sigset_t signals = Signals();
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
}

bool WaitForStopSignal(runtime::Duration limit) {
  const sigset_t signals = Signals();
  const auto nanos = std::chrono::duration_cast<std::chrono::nanoseconds>(limit).count();
  const timespec timeout = {.tv_sec = nanos / 1'000'000'000, .tv_nsec = nanos % 1'000'000'000};
  const int signal = ::sigtimedwait(&signals, nullptr, &timeout);
  return signal == SIGINT || signal == SIGTERM || signal == SIGHUP;
}

}  // namespace shoal::cli
