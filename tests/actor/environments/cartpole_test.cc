// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/cartpole.h"

#include <catch2/catch.hpp>
#include <cmath>

namespace shoal::actor {
namespace {

// Returns the answer of an in-process environment.
Transition Played(const std::function<void(Environment::Done)>& call) {
  std::optional<absl::StatusOr<Transition>> answer;
  call([&](absl::StatusOr<Transition> transition) { answer = std::move(transition); });
  REQUIRE(answer.has_value());
  REQUIRE(answer->ok());
  return **answer;
}

void RequireClose(const CartPoleState& state, const CartPoleState& expected) {
  for (std::size_t i = 0; i < state.size(); ++i) {
    INFO("component " << i);
    REQUIRE(state[i] == Approx(expected[i]).epsilon(1e-12));
  }
}

TEST_CASE("One push from rest moves the cart and pole as the equations say") {
  // At rest cos = 1 and sin = 0, so temp = 10 / 1.1. The pole's acceleration is -temp / (0.5 (4/3 -
  // 0.1 / 1.1)), and the cart's is temp - 0.05 * that / 1.1.
  const double temp = 10.0 / 1.1;
  const double pole = -temp / (0.5 * (4.0 / 3.0 - 0.1 / 1.1));
  const double cart = temp - 0.05 * pole / 1.1;
  RequireClose(AdvanceCartPole({0, 0, 0, 0}, 1), {0, 0.02 * cart, 0, 0.02 * pole});
  RequireClose(AdvanceCartPole({0, 0, 0, 0}, 0), {0, -0.02 * cart, 0, -0.02 * pole});
}

TEST_CASE("A step from a general state matches Gymnasium's CartPole-v1") {
  RequireClose(AdvanceCartPole({0.1, -0.2, 0.05, 0.3}, 1),
               {0.096, -0.005625065781779709, 0.056, 0.02349585151852651});
}

TEST_CASE("The cart falls past 2.4 m or 12 degrees and not before") {
  REQUIRE_FALSE(CartPoleFell({2.4, 0, 0, 0}));
  REQUIRE(CartPoleFell({2.4001, 0, 0, 0}));
  REQUIRE(CartPoleFell({-2.4001, 0, 0, 0}));
  REQUIRE_FALSE(CartPoleFell({0, 0, 0.2094, 0}));
  REQUIRE(CartPoleFell({0, 0, -0.2095, 0}));
}

TEST_CASE("Always pushing one way ends an episode as terminated with a reward a step") {
  CartPole environment(3);
  Played([&](auto done) { environment.Reset({.environment_id = 1}, done); });
  int steps = 0;
  End end = End::kNone;
  while (end == End::kNone) {
    const Transition transition = Played([&](auto done) { environment.Step(1, done); });
    REQUIRE(transition.reward == 1.0F);
    end = transition.end;
    ++steps;
  }
  REQUIRE(end == End::kTerminated);
  REQUIRE(steps < 20);
  REQUIRE(environment.facts().steps == steps);
  REQUIRE_FALSE(environment.facts().success);
}

TEST_CASE("A balanced pole is cut off after 500 steps as truncated") {
  CartPole environment(3);
  Transition last = Played([&](auto done) { environment.Reset({.environment_id = 1}, done); });
  int steps = 0;
  while (last.end == End::kNone) {
    const auto& state = last.observation.numeric;
    const float lean = state[2] + 0.5F * state[3] + 0.05F * state[0] + 0.1F * state[1];
    last = Played([&](auto done) { environment.Step(lean > 0 ? 1 : 0, done); });
    ++steps;
  }
  REQUIRE(steps == 500);
  REQUIRE(last.end == End::kTruncated);
  REQUIRE(environment.facts().success);
}

TEST_CASE("A start is a function of seed, environment and episode") {
  CartPole one(7);
  CartPole same(7);
  CartPole other(8);
  const auto start = [](CartPole& environment, std::uint64_t id, std::uint64_t episode) {
    return Played([&](auto done) {
             environment.Reset({.environment_id = id, .episode = episode}, done);
           })
        .observation.numeric;
  };
  const auto first = start(one, 4, 9);
  for (const float value : first) REQUIRE(std::abs(value) <= 0.05F);
  start(same, 1, 1);
  REQUIRE(start(same, 4, 9) == first);
  REQUIRE(start(one, 4, 10) != first);
  REQUIRE(start(one, 5, 9) != first);
  REQUIRE(start(other, 4, 9) != first);
}

TEST_CASE("An action that CartPole does not have is an error, not a step") {
  CartPole environment(3);
  Played([&](auto done) { environment.Reset({}, done); });
  absl::Status status;
  environment.Step(2, [&](absl::StatusOr<Transition> answer) { status = answer.status(); });
  REQUIRE(absl::IsInvalidArgument(status));
  REQUIRE(environment.facts().steps == 0);
}

}  // namespace
}  // namespace shoal::actor
