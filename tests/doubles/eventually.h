// SPDX-License-Identifier: Apache-2.0
// Waiting for what other threads or processes do, with an end: a test that waits in vain fails.
#pragma once

#include <chrono>
#include <thread>

namespace shoal::doubles {

// How long a test waits for what is to come; far longer than it takes on a busy machine.
inline constexpr std::chrono::seconds kLongWait{30};

// Asks again and again; false when `condition` did not become true in time.
template <typename Condition>
bool Eventually(const Condition& condition, std::chrono::milliseconds patience = kLongWait) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::yield();
  }
  return true;
}

}  // namespace shoal::doubles
