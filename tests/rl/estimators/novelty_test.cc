// SPDX-License-Identifier: Apache-2.0
#include "rl/estimators/novelty.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "tests/rl/estimators/close.h"

namespace shoal::estimators {
namespace {

TEST_CASE("the episodic reward follows the paper's kernel") {
  // Relative distances 1.008 and 2.008 lie 1 and 2 beyond the cluster.
  const double kernels = 1e-4 / (1 + 1e-4) + 1e-4 / (2 + 1e-4);
  REQUIRE(EpisodicNovelty(Floats{.504F, 1.004F}, .5) ==
          Approx(1 / (std::sqrt(kernels) + 1e-3)).epsilon(1e-6));
}

TEST_CASE("an observation in the midst of its neighbours is not new, one apart is") {
  // Each of the same neighbours adds 1 to the squared similarity.
  REQUIRE(EpisodicNovelty(Floats(10, 0.0F), 1) == Approx(1 / (std::sqrt(10.0) + 1e-3)));
  REQUIRE(EpisodicNovelty(Floats(10, .007F), 1) == EpisodicNovelty(Floats(10, 0.0F), 1));
  REQUIRE(EpisodicNovelty(Floats(10, 5.0F), 1) > EpisodicNovelty(Floats(10, 1.0F), 1));
  REQUIRE(EpisodicNovelty(Floats(10, 1e30F), 1) == Approx(1000));
}

TEST_CASE("too similar an observation has no novelty") {
  REQUIRE(EpisodicNovelty(Floats(64, 0.0F), 1) == 0);
  REQUIRE(EpisodicNovelty(Floats(63, 0.0F), 1) > 0);
}

TEST_CASE("without neighbours or without distances the reward is finite") {
  REQUIRE(EpisodicNovelty({}, 1) == 0);
  REQUIRE(EpisodicNovelty(Floats(4, 0.0F), 0) == Approx(1 / 2.001));
}

TEST_CASE("life-long novelty multiplies by 1 to 5") {
  REQUIRE(IntrinsicReward(2, 3, 3, .5) == 2);
  REQUIRE(IntrinsicReward(2, 1, 3, .5) == 2);
  REQUIRE(IntrinsicReward(2, 4, 3, .5) == 6);
  REQUIRE(IntrinsicReward(2, 100, 3, .5) == 10);
  REQUIRE(IntrinsicReward(2, 100, 3, .5, 1) == 2);
  REQUIRE(IntrinsicReward(2, 100, 3, 0) == 2);
}

}  // namespace
}  // namespace shoal::estimators
