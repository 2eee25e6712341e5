// SPDX-License-Identifier: Apache-2.0
#include "rl/estimators/kl_control.h"

#include <catch2/catch.hpp>

namespace shoal::estimators {
namespace {

TEST_CASE("a KL rate falls when the policy runs and rises when it creeps") {
  REQUIRE(KlAdaptiveRate(3e-4, .03, .01) == Approx(2e-4));
  REQUIRE(KlAdaptiveRate(3e-4, .001, .01) == Approx(4.5e-4));
  REQUIRE(KlAdaptiveRate(3e-4, .01, .01) == Approx(3e-4));
  REQUIRE(KlAdaptiveRate(1e-2, 0, .01) == 1e-2);
  REQUIRE(KlAdaptiveRate(1e-6, 1, .01) == 1e-6);
}

TEST_CASE("a KL penalty doubles above one and a half of its target and halves below two thirds") {
  REQUIRE(AdaptiveKlCoefficient(1, .016, .01) == 2);
  REQUIRE(AdaptiveKlCoefficient(1, .0149, .01) == 1);
  REQUIRE(AdaptiveKlCoefficient(1, .0067, .01) == 1);
  REQUIRE(AdaptiveKlCoefficient(1, .006, .01) == .5);
}

TEST_CASE("a KL penalty never becomes a number from which it cannot return") {
  double coefficient = 1;
  for (int update = 0; update < 5000; ++update) {
    coefficient = AdaptiveKlCoefficient(coefficient, 0, .01);
  }
  REQUIRE(coefficient > 0);
  REQUIRE(AdaptiveKlCoefficient(coefficient, 1, .01) == 2 * coefficient);
  for (int update = 0; update < 5000; ++update) {
    coefficient = AdaptiveKlCoefficient(coefficient, 1, .01);
  }
  REQUIRE(AdaptiveKlCoefficient(coefficient, 0, .01) == coefficient / 2);
}

}  // namespace
}  // namespace shoal::estimators
