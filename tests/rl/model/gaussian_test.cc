// SPDX-License-Identifier: Apache-2.0
#include "rl/model/gaussian.h"

#include <catch2/catch.hpp>
#include <cmath>

namespace shoal::model {
namespace {

// log_density is -(a - m)^2 / (2 s^2) - log s - log(2 pi) / 2 and entropy log(2 pi e s^2) / 2 with
// s = exp(log_deviation), by Python's math.
struct Golden {
  double mean = 0;
  double log_deviation = 0;
  double action = 0;
  double log_density = 0;
  double entropy = 0;
};

constexpr Golden kGolden[] = {
    {0.5, -1, 0.7, -0.066719655183286, 0.418938533204673},
    {-0.3, 0.25, 1.9, -2.636742729709245, 1.668938533204673},
    {0.1, -2.5, 0.0, 0.838995671282444, -1.081061466795327},
};

TEST_CASE("Log-density and entropy of a Gaussian are those of the formulas") {
  for (const Golden& golden : kGolden) {
    const Gaussian gaussian(golden.mean, golden.log_deviation);
    REQUIRE(gaussian.LogDensity(golden.action) == Approx(golden.log_density).margin(1e-12));
    REQUIRE(gaussian.Entropy() == Approx(golden.entropy).margin(1e-12));
  }
}

TEST_CASE("The entropy of a Gaussian is the mean of its negative log-density") {
  const Gaussian gaussian(0.4, -0.7);
  double mean = 0;
  constexpr int kSteps = 100000;
  for (int i = 0; i < kSteps; ++i) {
    const double noise = -8 + (i + 0.5) * 16 / kSteps;
    const double density = gaussian.LogDensity(0.4 + std::exp(-0.7) * noise);
    mean -= std::exp(density) * density * std::exp(-0.7) * 16 / kSteps;
  }
  REQUIRE(mean == Approx(gaussian.Entropy()).epsilon(1e-6));
}

TEST_CASE("The action of a Gaussian without noise is its mean, and deviations are clipped") {
  REQUIRE(Gaussian(0.25, 0).Action(0) == 0.25F);
  REQUIRE(Gaussian(3, -1).Action(2) == Approx(3 + 2 * std::exp(-1)));
  REQUIRE(Gaussian(0.1, -50).Action(1) == Gaussian(0.1, -5).Action(1));
  REQUIRE(Gaussian(0.1, 50).Entropy() == Gaussian(0.1, 2).Entropy());
}

}  // namespace
}  // namespace shoal::model
