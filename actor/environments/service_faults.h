// SPDX-License-Identifier: Apache-2.0
// How a simulated service makes an episode harder: it is busy now and then, it is slow, and it
// works by tasks where others do the work at once.
#pragma once

#include <chrono>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "platform/runtime/config.h"
#include "platform/runtime/random.h"

namespace shoal::actor {

// Section [environment.faults]: the worst that an episode may meet. Episodes differ, so that an
// agent learns to act on services of any temper.
struct FaultOptions {
  // The largest share of requests that are answered with 503 and do nothing.
  double rate = 0;
  // The longest delay of answers, on the service's clock.
  std::int64_t latency_ms = 0;
  // The share of episodes in which each change is answered with 202 and a Task.
  double tasks = 0;
  // The longest that such a task takes, on the service's clock.
  std::int64_t task_ms = 10'000;

  bool any() const { return rate > 0 || latency_ms > 0 || tasks > 0; }
  void Visit(runtime::Visitor& visitor);
};

// What one episode meets.
struct ServiceFaults {
  double rate = 0;
  std::chrono::milliseconds latency{0};
  // How long the task of a change takes. Nothing means that changes are made at once.
  std::optional<std::chrono::milliseconds> task = {};
  // Decides which requests the service is busy at.
  std::uint64_t seed = 0;
};

// Draws what an episode meets: rate and latency are each uniform from 0 to `share` times that of
// `options`, and so is the time of tasks, which half of the episodes with tasks do not need at all:
// their work is done when the request is answered. REQUIRES: `share` is in [0, 1].
ServiceFaults DrawFaults(const FaultOptions& options, runtime::Random& random, double share = 1);

// Returns `faults` as a set that the mock server reads (mockserver/faults/fault.h).
nlohmann::json ToJson(const ServiceFaults& faults);

}  // namespace shoal::actor
