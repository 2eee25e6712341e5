// SPDX-License-Identifier: Apache-2.0
#include "rl/model/squashed_gaussian.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <numbers>

namespace shoal::model {
namespace {

struct Parameters {
  double mean = 0;
  double log_deviation = 0;

  double NoiseOf(double action) const {
    return (std::atanh(action) - mean) / std::exp(log_deviation);
  }
  // The probability of an action below `action`, from the normal distribution's.
  double Below(double action) const {
    return 0.5 * std::erfc(-NoiseOf(action) / std::numbers::sqrt2);
  }
};

constexpr Parameters kSome[] = {{0, 0}, {0.7, -1}, {-1.5, 0.4}, {0.2, -2.5}};

TEST_CASE("The density of a squashed Gaussian integrates to 1 over its actions") {
  for (const Parameters& parameters : kSome) {
    const SquashedGaussian gaussian(parameters.mean, parameters.log_deviation);
    constexpr int kSteps = 200000;
    double mass = 0;
    for (int i = 0; i < kSteps; ++i) {
      const double action = -1 + (i + 0.5) * 2 / kSteps;
      mass += std::exp(gaussian.LogDensity(parameters.NoiseOf(action))) * 2 / kSteps;
    }
    REQUIRE(mass == Approx(1).epsilon(1e-4));
  }
}

TEST_CASE("The density of a squashed Gaussian is the derivative of its distribution function") {
  for (const Parameters& parameters : kSome) {
    const SquashedGaussian gaussian(parameters.mean, parameters.log_deviation);
    for (const double noise : {-2.0, -0.3, 0.0, 1.1, 2.5}) {
      const double action = gaussian.Action(noise);
      const double step = 1e-5 * (1 - action * action);
      const double slope =
          (parameters.Below(action + step) - parameters.Below(action - step)) / (2 * step);
      REQUIRE(std::exp(gaussian.LogDensity(noise)) == Approx(slope).epsilon(1e-5));
    }
  }
}

TEST_CASE("The log-density is exact where the action rounds to the end of its range") {
  const SquashedGaussian gaussian(40, 0);
  REQUIRE(gaussian.Action(0) == 1);
  // 1 - tanh(u)^2 is 4 exp(-2 u) there.
  const double expected = -0.5 * std::log(2 * std::numbers::pi) - std::log(4) + 80;
  REQUIRE(gaussian.LogDensity(0) == Approx(expected));
  REQUIRE(SquashedGaussian(-40, 0).LogDensity(0) == Approx(expected));
}

TEST_CASE("Deviations are clipped to their range") {
  REQUIRE(SquashedGaussian(0.1, -50).Action(1) == SquashedGaussian(0.1, -5).Action(1));
  REQUIRE(SquashedGaussian(0.1, 50).LogDensity(0.2) == SquashedGaussian(0.1, 2).LogDensity(0.2));
}

TEST_CASE("Normal numbers of two uniform ones have mean 0, deviation 1 and no infinity") {
  double sum = 0;
  double squares = 0;
  constexpr int kSide = 400;
  for (int i = 0; i < kSide; ++i) {
    for (int j = 0; j < kSide; ++j) {
      const double normal = NormalOf((i + 0.5) / kSide, (j + 0.5) / kSide);
      sum += normal;
      squares += normal * normal;
    }
  }
  REQUIRE(sum / (kSide * kSide) == Approx(0).margin(1e-6));
  REQUIRE(squares / (kSide * kSide) == Approx(1).epsilon(0.01));
  REQUIRE(std::isfinite(NormalOf(0, 0)));
  REQUIRE(std::isfinite(NormalOf(std::nextafter(1.0, 0.0), 0)));
}

}  // namespace
}  // namespace shoal::model
