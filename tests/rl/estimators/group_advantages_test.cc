// SPDX-License-Identifier: Apache-2.0
#include "rl/estimators/group_advantages.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "tests/rl/estimators/close.h"

namespace shoal::estimators {
namespace {

const Floats kOutcomes = {1, 0, 0, 1, .5F, 0, 1, 0};

// Returns the advantages that outcomes 1, 0 and .5 stand for.
std::vector<double> ByOutcome(double one, double zero, double half) {
  return {one, zero, zero, one, half, zero, one, zero};
}

TEST_CASE("group advantages have the known values, by either standard deviation") {
  RequireClose(GroupAdvantages(kOutcomes), ByOutcome(1.21355975, -.94387981, .13483997), 1e-6);
  RequireClose(GroupAdvantages(kOutcomes, GroupDeviation::kSample),
               ByOutcome(1.13518120, -.88291871, .12613124), 1e-6);
  RequireClose(GroupAdvantages(kOutcomes, GroupDeviation::kNone), ByOutcome(.5625, -.4375, .0625),
               1e-6);
}

TEST_CASE("a group in which all ended alike teaches nothing") {
  for (const auto deviation :
       {GroupDeviation::kPopulation, GroupDeviation::kSample, GroupDeviation::kNone}) {
    REQUIRE(GroupAdvantages(Floats{.1F, .1F, .1F}, deviation) == Floats(3, 0.0F));
    REQUIRE(GroupAdvantages(Floats{7}, deviation) == Floats{0});
    REQUIRE(GroupAdvantages({}, deviation).empty());
    // Outcomes that differ by rounding are equal.
    const float nearly = std::nextafter(.1F, 1.0F);
    REQUIRE(GroupAdvantages(Floats{.1F, nearly, .1F}, deviation) == Floats(3, 0.0F));
  }
}

TEST_CASE("an outcome that is not finite silences its group") {
  REQUIRE(GroupAdvantages(Floats{1, std::nanf(""), 0}) == Floats(3, 0.0F));
  REQUIRE(GroupAdvantages(Floats{1, std::numeric_limits<float>::infinity()}) == Floats(2, 0.0F));
}

TEST_CASE("shifting and scaling outcomes leaves advantages as they are") {
  Floats moved = kOutcomes;
  for (float& outcome : moved) outcome = 4 * outcome - 3;
  const Floats expected = GroupAdvantages(kOutcomes);
  RequireClose(GroupAdvantages(moved), {expected.begin(), expected.end()}, 1e-6);
}

}  // namespace
}  // namespace shoal::estimators
