// SPDX-License-Identifier: Apache-2.0
#include "rl/estimators/returns.h"

#include <catch2/catch.hpp>

#include "rl/estimators/double_q.h"
#include "tests/rl/estimators/close.h"

namespace shoal::estimators {
namespace {

const Floats kRewards = {1, 0, -1, 0, 1};
const Floats kDiscount = {.5F, .9F, 1, .5F, .8F};
const Floats kNextValue = {3, 1, 5, -5, 3};

Floats NSteps(std::size_t n, float lambda) {
  const Floats trace(5, lambda);
  return NStepReturns(
      {.reward = kRewards, .discount = kDiscount, .trace = trace, .next_value = kNextValue}, n);
}

TEST_CASE("n-step returns are those of rlax's tests") {
  RequireClose(NSteps(3, 1), {2.8, -3.15, .7, 1.7, 3.4}, 1e-6);
  RequireClose(NSteps(5, 1), {1.315, .63, .7, 1.7, 3.4}, 1e-6);
  RequireClose(NSteps(5, .75F), {1.6460547, .72281253, .7375001, .6500001, 3.4}, 1e-6);
}

TEST_CASE("returns of as many steps as there are, or more, are lambda-returns") {
  const Floats trace = {.9F, 1, 0, .5F, .7F};
  const ReturnSteps steps = {
      .reward = kRewards, .discount = kDiscount, .trace = trace, .next_value = kNextValue};
  REQUIRE(NStepReturns(steps, 5) == LambdaReturns(steps));
  REQUIRE(NStepReturns(steps, 1000) == LambdaReturns(steps));
}

TEST_CASE("rewards of 1 with discount .99 give the returns of REINFORCE") {
  RequireClose(DiscountedReturns(Floats{1, 1, 1, 1}, Floats(4, .99F), 0),
               {3.940399, 2.9701, 1.99, 1.0}, 1e-6);
}

TEST_CASE("a discounted return is a lambda-return with trace 1, tail and all") {
  REQUIRE(DiscountedReturns(kRewards, kDiscount, kNextValue.back()) ==
          LambdaReturns({.reward = kRewards,
                         .discount = kDiscount,
                         .trace = Floats(5, 1.0F),
                         .next_value = kNextValue}));
}

TEST_CASE("a return of n steps ends where the episode does") {
  const Floats trace = {1, 1, 0, 1, 1};
  const auto returns = [&](const Floats& discount) {
    return NStepReturns(
        {.reward = kRewards, .discount = discount, .trace = trace, .next_value = kNextValue}, 4);
  };
  const Floats truncated = returns(kDiscount);
  REQUIRE(truncated[2] == Approx(-1 + 5));
  REQUIRE(truncated[1] == Approx(.9 * 4));
  const Floats terminated = returns({.5F, .9F, 0, .5F, .8F});
  REQUIRE(terminated[2] == Approx(-1));
  REQUIRE(terminated[1] == Approx(.9 * -1));
  // What follows the end is a sequence of its own.
  REQUIRE(terminated[3] == truncated[3]);
}

// The sequence of rlax's tests of transformed n-step Q-learning, with n 2.
Floats Errors(ValueTransform transform) {
  const std::vector<Floats> target = {{1.2F, 2.2F}, {-1.2F, .2F}, {2.2F, -1.2F}};
  const std::vector<std::size_t> chosen = {0, 1, 0};
  Floats next_value;
  for (std::size_t t = 0; t < 3; ++t) {
    // The online network prefers the action that rlax's test selects.
    Floats online(2);
    online[chosen[t]] = 1;
    next_value.push_back(static_cast<float>(DoubleQValue(online, target[t])));
  }
  const Floats predicted = {1.1F, 1.1F, 3.1F};
  Floats errors = TransformedNStepReturns({.reward = Floats{-1.3F, -1.3F, 2.3F},
                                           .discount = Floats{0, .89F, .85F},
                                           .trace = Floats(3, 1.0F),
                                           .next_value = next_value},
                                          2, transform);
  for (std::size_t t = 0; t < 3; ++t) errors[t] -= predicted[t];
  return errors;
}

TEST_CASE("errors of transformed n-step Q-learning are those of rlax's tests") {
  // rlax's numbers were computed with 32 bits, in which the inverse transform loses digits.
  RequireClose(Errors(ValueTransform::kSignedHyperbolic), {-1.6178751, .85600746, -.75762916},
               1e-4);
  RequireClose(Errors(ValueTransform::kIdentity), {-2.4, 1.3112999, 1.0700002}, 1e-6);
}

TEST_CASE("an empty sequence has no returns") {
  REQUIRE(LambdaReturns({}).empty());
  REQUIRE(NStepReturns({}, 3).empty());
  REQUIRE(DiscountedReturns({}, {}, 7).empty());
}

}  // namespace
}  // namespace shoal::estimators
