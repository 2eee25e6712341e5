// SPDX-License-Identifier: Apache-2.0
#include "rl/estimators/bandit.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <deque>
#include <limits>
#include <map>

namespace shoal::estimators {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

TEST_CASE("an arm's upper bound is its mean in the window and what is uncertain about it") {
  const std::vector<Play> window = {{0, 1}, {2, 5}, {0, 3}, {0, 2}};
  const auto bounds = UpperBounds(window, 4, 3);
  REQUIRE(bounds[0] == Approx(2 + 3 * std::sqrt(1. / 3)));
  REQUIRE(bounds[1] == kInfinite);
  REQUIRE(bounds[2] == 5 + 3);
  REQUIRE(bounds[3] == kInfinite);
}

TEST_CASE("arms without plays are played first, in order and not by chance") {
  runtime::Random random(1);
  const std::uint64_t untouched = runtime::Random(1)();
  std::vector<Play> window;
  for (std::size_t arm = 0; arm < 5; ++arm) {
    REQUIRE(ChooseArm(UpperBounds(window, 5), 1, random) == arm);
    window.push_back({arm, -100});
  }
  REQUIRE(random() == untouched);
}

TEST_CASE("the arm with the greatest bound is played, except with probability epsilon") {
  runtime::Random random(2);
  const std::vector<double> bounds = {1, 4, 4, 2};
  REQUIRE(ChooseArm(bounds, 0, random) == 1);
  constexpr int kDraws = 40000;
  std::map<std::size_t, int> counts;
  for (int draw = 0; draw < kDraws; ++draw) ++counts[ChooseArm(bounds, .5, random)];
  // Each arm gets an eighth by chance; six standard deviations of that are less than 400.
  REQUIRE(std::abs(counts[1] - kDraws * 5 / 8) < 400);
  for (const std::size_t other : {0, 2, 3}) REQUIRE(std::abs(counts[other] - kDraws / 8) < 400);
}

TEST_CASE("when the best arm changes, a window forgets the old one") {
  runtime::Random random(3);
  std::deque<Play> plays;
  int late_plays_of_the_best = 0;
  for (int episode = 0; episode < 600; ++episode) {
    const std::size_t best = episode < 300 ? 0 : 2;
    const std::vector<Play> window(plays.begin(), plays.end());
    const std::size_t arm = ChooseArm(UpperBounds(window, 3), .1, random);
    plays.push_back({arm, arm == best ? 3.0 : 0.0});
    if (plays.size() > 60) plays.pop_front();
    if (episode >= 500 && arm == best) ++late_plays_of_the_best;
  }
  REQUIRE(late_plays_of_the_best > 80);
}

}  // namespace
}  // namespace shoal::estimators
