// SPDX-License-Identifier: Apache-2.0
#include "platform/runtime/stop_signals.h"

#include <pthread.h>
#include <signal.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

namespace shoal::runtime {
namespace {

bool IsBlocked(int signal) {
  sigset_t blocked;
  ::pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
  return ::sigismember(&blocked, signal) == 1;
}

// A signal that is not blocked, or that is still pending when it is unblocked, would end this test.
TEST_CASE("a signal to stop is seen and ends nothing, neither then nor afterwards") {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    {
      const StopSignals signals;
      REQUIRE_FALSE(signals.pending());
      REQUIRE(::raise(signal) == 0);
      REQUIRE(signals.pending());
      REQUIRE(signals.pending());
    }
    REQUIRE_FALSE(IsBlocked(signal));
    const StopSignals again;
    REQUIRE_FALSE(again.pending());
  }
}

TEST_CASE("threads that are started afterwards do not take a signal to stop either") {
  const StopSignals signals;
  bool blocked = false;
  std::thread([&] { blocked = IsBlocked(SIGTERM) && IsBlocked(SIGINT); }).join();
  REQUIRE(blocked);
}

TEST_CASE("other signals do not stop") {
  const StopSignals signals;
  REQUIRE_FALSE(IsBlocked(SIGUSR1));
  REQUIRE(::raise(SIGCHLD) == 0);
  REQUIRE_FALSE(signals.pending());
}

TEST_CASE(
    "waiting takes a signal to stop, and ends without one when a child ends or time is over") {
  const StopSignals signals;
  REQUIRE_FALSE(StopSignals::Wait(std::chrono::milliseconds(1)));
  REQUIRE(::raise(SIGCHLD) == 0);
  REQUIRE_FALSE(StopSignals::Wait(std::chrono::hours(1)));
  REQUIRE(::raise(SIGHUP) == 0);
  REQUIRE(StopSignals::Wait(std::chrono::hours(1)));
  REQUIRE_FALSE(signals.pending());
}

}  // namespace
}  // namespace shoal::runtime
