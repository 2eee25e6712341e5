// SPDX-License-Identifier: Apache-2.0
#include "rl/estimators/generalised_advantages.h"

#include <catch2/catch.hpp>

#include "rl/estimators/returns.h"
#include "tests/rl/estimators/close.h"

namespace shoal::estimators {
namespace {

const Floats kReward = {1, 0, 2, -1, 3};
const Floats kValue = {.5F, .4F, .3F, .2F, .1F, .7F};

TEST_CASE("advantages stop at a terminal step and start anew after it") {
  const Floats advantage = GeneralisedAdvantages({.reward = kReward,
                                                  .value = kValue,
                                                  .discount = Floats{.99F, .99F, 0, .99F, .99F},
                                                  .trace = Floats{.95F, .95F, 0, .95F, .95F}});
  RequireClose(advantage, {2.302846925, 1.49585, 1.7, 2.2782165, 3.593}, 1e-6);
}

TEST_CASE("a truncated step's advantage contains the value of its final observation alone") {
  const Floats advantage = GeneralisedAdvantages({.reward = kReward,
                                                  .value = kValue,
                                                  .discount = Floats(5, .99F),
                                                  .trace = Floats{.95F, .95F, 0, .95F, .95F}});
  REQUIRE(advantage[2] == Approx(2 + .99 * .2 - .3));
  REQUIRE(advantage[3] == Approx(2.2782165));
}

TEST_CASE("with trace 1 and no values the advantage is the discounted return") {
  const Floats advantage = GeneralisedAdvantages({.reward = Floats{1, 1, 1, 1},
                                                  .value = Floats{0, 0, 0, 0, 0},
                                                  .discount = Floats(4, .99F),
                                                  .trace = Floats(4, 1.0F)});
  RequireClose(advantage, {3.940399, 2.9701, 1.99, 1.0}, 1e-6);
}

TEST_CASE("an advantage plus its value is the lambda-return") {
  const Floats discount = {.99F, .9F, 0, .95F, .8F};
  const Floats trace = {.95F, .9F, 0, 1, .7F};
  const Floats advantage = GeneralisedAdvantages(
      {.reward = kReward, .value = kValue, .discount = discount, .trace = trace});
  const Floats returns = LambdaReturns({.reward = kReward,
                                        .discount = discount,
                                        .trace = trace,
                                        .next_value = std::span(kValue).subspan(1)});
  std::vector<double> expected;
  for (std::size_t t = 0; t < returns.size(); ++t) expected.push_back(returns[t] - kValue[t]);
  RequireClose(advantage, expected, 1e-6);
}

}  // namespace
}  // namespace shoal::estimators
