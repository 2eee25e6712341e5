// SPDX-License-Identifier: Apache-2.0
// Learning rates over time: pure functions.
#pragma once

#include <cstdint>
#include <string_view>

#include "platform/runtime/status.h"

namespace shoal::training {

// Returns a rate that falls linearly from `start` at step 0 to 0 at `steps`, and stays 0 after it.
double LinearRate(double start, std::int64_t step, std::int64_t steps);

// A rate that rises linearly from 0, and then stays or falls until the run ends.
struct RateSchedule {
  enum class Shape : std::uint8_t {
    kConstant,  // never falls
    kLinear,    // falls linearly
    kCosine,    // falls by half a cosine (Loshchilov and Hutter, "SGDR", 2017)
  };
  Shape shape = Shape::kCosine;
  double peak = 1e-3;
  // The fraction of the run in which the rate rises; 0 for none.
  double warmup = 0.05;
  // The final rate as a fraction of `peak`.
  double floor = 0.1;

  // Returns INVALID_ARGUMENT naming a number that is not finite, negative, or a fraction above 1.
  absl::Status Validate() const;
  // `done` is the fraction of the run that is over; above 1, the rate is the final one.
  double At(double done) const;
};

// Parses "constant", "linear" or "cosine"; INVALID_ARGUMENT lists these.
absl::StatusOr<RateSchedule::Shape> ParseRateShape(std::string_view name);

}  // namespace shoal::training
