// SPDX-License-Identifier: Apache-2.0
#include "rl/training/schedule.h"

#include <catch2/catch.hpp>
#include <limits>

namespace shoal::training {
namespace {

using Shape = RateSchedule::Shape;

TEST_CASE("a rate rises over the warmup, falls by its shape, and stays at its floor") {
  const RateSchedule cosine{.shape = Shape::kCosine, .peak = 2, .warmup = 0.2, .floor = 0.1};
  REQUIRE(cosine.At(0) == 0);
  REQUIRE(cosine.At(0.1) == Approx(1));
  REQUIRE(cosine.At(0.2) == Approx(2));
  REQUIRE(cosine.At(0.6) == Approx(2 * 0.55));
  REQUIRE(cosine.At(1) == Approx(0.2));
  REQUIRE(cosine.At(7) == Approx(0.2));
  const RateSchedule linear{.shape = Shape::kLinear, .peak = 2, .warmup = 0.2, .floor = 0};
  REQUIRE(linear.At(0.4) == Approx(1.5));
  REQUIRE(linear.At(1) == Approx(0).margin(1e-12));
  const RateSchedule constant{.shape = Shape::kConstant, .peak = 2, .warmup = 0.2, .floor = 0};
  REQUIRE(constant.At(0.1) == Approx(1));
  REQUIRE(constant.At(1) == 2);
}

TEST_CASE("a rate without warmup begins at its peak, one that is all warmup ends there") {
  REQUIRE(RateSchedule{.peak = 3, .warmup = 0}.At(0) == 3);
  REQUIRE(RateSchedule{.peak = 3, .warmup = 1}.At(0.5) == Approx(1.5));
}

TEST_CASE("a schedule that makes no sense is refused by name") {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  REQUIRE(RateSchedule{}.Validate().ok());
  REQUIRE_FALSE(RateSchedule{.peak = kNone}.Validate().ok());
  REQUIRE_FALSE(RateSchedule{.peak = -1}.Validate().ok());
  REQUIRE_FALSE(RateSchedule{.warmup = 1.5}.Validate().ok());
  REQUIRE_FALSE(RateSchedule{.floor = kNone}.Validate().ok());
  REQUIRE(ParseRateShape("linear").value() == Shape::kLinear);
  const auto unknown = ParseRateShape("steps");
  REQUIRE(runtime::Message(unknown.status()).find("'steps'") != std::string::npos);
}

TEST_CASE("a linear rate reaches 0 and stays there") {
  REQUIRE(LinearRate(1e-3, 0, 10) == Approx(1e-3));
  REQUIRE(LinearRate(1e-3, 5, 10) == Approx(5e-4));
  REQUIRE(LinearRate(1e-3, 10, 10) == 0);
  REQUIRE(LinearRate(1e-3, 11, 10) == 0);
}

}  // namespace
}  // namespace shoal::training
