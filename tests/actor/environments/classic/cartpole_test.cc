// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/classic/cartpole.h"

#include <array>
#include <catch2/catch.hpp>

namespace shoal::actor {
namespace {

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

TEST_CASE("The cart falls past 2.4 m or 12 degrees and not before") {
  REQUIRE_FALSE(CartPoleFell({2.4, 0, 0, 0}));
  REQUIRE(CartPoleFell({2.4001, 0, 0, 0}));
  REQUIRE(CartPoleFell({-2.4001, 0, 0, 0}));
  REQUIRE_FALSE(CartPoleFell({0, 0, 0.2094, 0}));
  REQUIRE(CartPoleFell({0, 0, -0.2095, 0}));
}

TEST_CASE("With masked velocities the cart moves as before and shows position and angle alone") {
  CartPole seen(CartPole::Sees::kAll);
  CartPole masked(CartPole::Sees::kNoVelocities);
  seen.Reset({.seed = 5, .environment = 2, .episode = 3});
  masked.Reset({.seed = 5, .environment = 2, .episode = 3});
  std::array<float, 4> all = {};
  std::array<float, 2> some = {};
  bool fell = false;
  while (!fell) {
    fell = seen.Step(1).terminated;
    REQUIRE(masked.Step(1).terminated == fell);
    seen.Observe(all);
    masked.Observe(some);
    REQUIRE(some == std::array<float, 2>{all[0], all[2]});
  }
}

}  // namespace
}  // namespace shoal::actor
