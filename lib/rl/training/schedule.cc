// SPDX-License-Identifier: Apache-2.0
#include "rl/training/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

namespace shoal::training {

double LinearRate(double start, std::int64_t step, std::int64_t steps) {
  if (steps <= 0 || step >= steps) return 0;
  return start * (1 - static_cast<double>(step) / static_cast<double>(steps));
}

absl::Status RateSchedule::Validate() const {
  if (!std::isfinite(peak) || peak < 0) {
    return runtime::InvalidArgument("learning rate " + std::to_string(peak) +
                                    " is negative or not finite");
  }
  if (!(warmup >= 0 && warmup <= 1)) {
    return runtime::InvalidArgument("warmup " + std::to_string(warmup) + " is not from 0 to 1");
  }
  if (!(floor >= 0 && floor <= 1)) {
    return runtime::InvalidArgument("floor of the learning rate " + std::to_string(floor) +
                                    " is not from 0 to 1");
  }
  return absl::OkStatus();
}

double RateSchedule::At(double done) const {
  done = std::clamp(done, 0.0, 1.0);
  if (done < warmup) return peak * done / warmup;
  const double falling = warmup < 1 ? (done - warmup) / (1 - warmup) : 1;
  switch (shape) {
    case Shape::kConstant:
      break;
    case Shape::kLinear:
      return peak * (1 - (1 - floor) * falling);
    case Shape::kCosine:
      return peak * (floor + (1 - floor) * (1 + std::cos(std::numbers::pi * falling)) / 2);
  }
  return peak;
}

absl::StatusOr<RateSchedule::Shape> ParseRateShape(std::string_view name) {
  if (name == "constant") return RateSchedule::Shape::kConstant;
  if (name == "linear") return RateSchedule::Shape::kLinear;
  if (name == "cosine") return RateSchedule::Shape::kCosine;
  return runtime::InvalidArgument("schedule '" + std::string(name) +
                                  "' is none of constant, linear, cosine");
}

}  // namespace shoal::training
