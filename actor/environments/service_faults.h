// SPDX-License-Identifier: Apache-2.0
// How a simulated service misbehaves in an episode: it is busy now and then, and it is slow.
#pragma once

#include <chrono>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>

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

  bool any() const { return rate > 0 || latency_ms > 0; }
  void Visit(runtime::Visitor& visitor);
};

// What one episode meets.
struct ServiceFaults {
  double rate = 0;
  std::chrono::milliseconds latency{0};
  // Decides which requests the service is busy at.
  std::uint64_t seed = 0;
};

// Draws what an episode meets: rate and latency are each uniform from 0 to `share` times that of
// `options`. REQUIRES: `share` is in [0, 1].
ServiceFaults DrawFaults(const FaultOptions& options, runtime::Random& random, double share = 1);

// Returns `faults` as a set that the mock server reads (mockserver/faults/fault.h).
nlohmann::json ToJson(const ServiceFaults& faults);

}  // namespace shoal::actor
