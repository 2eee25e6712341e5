// SPDX-License-Identifier: Apache-2.0
// Waits for other threads or processes up to a limit, so that a test that waits in vain fails.
#pragma once

#include <chrono>
#include <thread>

namespace shoal::doubles {

// How long a test waits. This is far longer than it takes on a busy machine.
inline constexpr std::chrono::seconds kLongWait{30};

// Polls until `condition` is true. Returns false if it is not in time.
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
