// SPDX-License-Identifier: Apache-2.0
// Learning rates over time: pure functions.
#pragma once

#include <cstdint>
#include <string_view>

#include "platform/runtime/status.h"

namespace shoal::training {

// From `start` at step 0 straight down to 0 at `steps` and after.
double LinearRate(double start, std::int64_t step, std::int64_t steps);

// The rate for the next update after one that moved the policy by `kl`: divided by 1.5 above twice
// the target, multiplied by 1.5 below half of it; within [1e-6, 1e-2].
double KlAdaptiveRate(double rate, double kl, double target);

// A rate that rises from 0 in a straight line, and then stays or falls until the run ends.
struct RateSchedule {
  enum class Shape : std::uint8_t {
    kConstant,  // never falls
    kLinear,    // in a straight line
    kCosine,    // by half a cosine (Loshchilov and Hutter, "SGDR", 2017)
  };
  Shape shape = Shape::kCosine;
  double peak = 1e-3;
  // Part of the run in which the rate rises; 0: none.
  double warmup = 0.05;
  // What it falls to, as a part of `peak`.
  double floor = 0.1;

  // INVALID_ARGUMENT naming what is not finite, negative, or past 1 where it is a part.
  absl::Status Validate() const;
  // `done`: how much of the run is over, 0 to 1; past it, the rate is that of the end.
  double At(double done) const;
};

// "constant", "linear" or "cosine"; INVALID_ARGUMENT naming these.
absl::StatusOr<RateSchedule::Shape> ParseRateShape(std::string_view name);

}  // namespace shoal::training
