// SPDX-License-Identifier: Apache-2.0
#include "inference/core/exploration.h"

#include <catch2/catch.hpp>

namespace shoal::inference {
namespace {

TEST_CASE("Epsilon falls linearly over the first steps of a run and then stays") {
  const Exploration exploration{.start = 1.0, .end = 0.1, .steps = 100};
  REQUIRE(exploration.Epsilon(3, 0) == Approx(1.0));
  REQUIRE(exploration.Epsilon(3, 50) == Approx(0.55));
  REQUIRE(exploration.Epsilon(3, 100) == Approx(0.1));
  REQUIRE(exploration.Epsilon(3, 1e9) == Approx(0.1));
}

TEST_CASE("A ladder gives each environment the epsilon of Ape-X, whatever the steps") {
  const Exploration exploration{.ladder = 8};
  const double expected[] = {.4, .16, .064, .0256, .01024, .004096, .0016384, .00065536};
  for (std::uint64_t environment = 0; environment < 8; ++environment) {
    REQUIRE(exploration.Epsilon(environment, 0) == Approx(expected[environment]));
    REQUIRE(exploration.Epsilon(environment + 16, 1e6) == Approx(expected[environment]));
  }
  REQUIRE(Exploration{.ladder = 1}.Epsilon(5, 0) == Approx(0.4));
}

}  // namespace
}  // namespace shoal::inference
