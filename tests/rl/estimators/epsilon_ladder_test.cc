// SPDX-License-Identifier: Apache-2.0
#include "rl/estimators/epsilon_ladder.h"

#include <catch2/catch.hpp>

#include "tests/rl/estimators/close.h"

namespace shoal::estimators {
namespace {

TEST_CASE("eight actors have the published epsilons") {
  std::vector<double> ladder;
  for (std::size_t actor = 0; actor < 8; ++actor) ladder.push_back(LadderEpsilon(actor, 8));
  RequireClose(ladder, {.4, .16, .064, .0256, .01024, .004096, .0016384, .00065536}, 1e-12);
}

TEST_CASE("a ladder of any length reaches from base to base^(1 + exponent)") {
  REQUIRE(LadderEpsilon(0, 1) == .4);
  REQUIRE(LadderEpsilon(0, 360) == .4);
  REQUIRE(LadderEpsilon(359, 360) == Approx(.00065536));
  REQUIRE(LadderEpsilon(1, 2, {.base = .5, .exponent = 2}) == .125);
}

}  // namespace
}  // namespace shoal::estimators
