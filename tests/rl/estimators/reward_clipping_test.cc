// SPDX-License-Identifier: Apache-2.0
#include "rl/estimators/reward_clipping.h"

#include <catch2/catch.hpp>
#include <cmath>

namespace shoal::estimators {
namespace {

TEST_CASE("a clipped reward stays within its limits") {
  REQUIRE(ClippedReward(.3) == .3);
  REQUIRE(ClippedReward(400) == 1);
  REQUIRE(ClippedReward(-400) == -1);
  REQUIRE(ClippedReward(-400, 10) == -10);
}

TEST_CASE("an asymmetric reward makes much of gains and little of losses") {
  REQUIRE(AsymmetricReward(0) == 0);
  REQUIRE(AsymmetricReward(.5) == Approx(5 * std::tanh(.5)));
  REQUIRE(AsymmetricReward(-.5) == Approx(-.3 * std::tanh(.5)));
  REQUIRE(AsymmetricReward(1000) == 5);
  REQUIRE(AsymmetricReward(-1000) == -.3);
}

TEST_CASE("a kind of clipping is chosen by name") {
  REQUIRE(ClippedReward(RewardClipping::kNone, 400, 1) == 400);
  REQUIRE(ClippedReward(RewardClipping::kSymmetric, 400, 2) == 2);
  REQUIRE(ClippedReward(RewardClipping::kAsymmetric, -400, 1) == AsymmetricReward(-400));
}

}  // namespace
}  // namespace shoal::estimators
