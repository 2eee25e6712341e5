// SPDX-License-Identifier: Apache-2.0
// A pole on a cart, balanced by pushing left or right: the physics of Gymnasium's CartPole-v1.
//
// The simulation is explicit Euler in double precision, and observations are rounded to float. An
// episode terminates when the cart passes 2.4 m or the pole 12 degrees. After 500 steps it is
// truncated: the final observation is handed out and bootstraps.
#pragma once

#include <array>
#include <cstdint>

#include "actor/environments/environment.h"

namespace shoal::actor {

// Position in m, velocity in m/s, angle in rad, angular velocity in rad/s.
using CartPoleState = std::array<double, 4>;

// Advances by one Euler step of 0.02 s under a force of 10 N, to the right when `action` is 1.
CartPoleState AdvanceCartPole(const CartPoleState& state, std::int64_t action);

// Whether the cart or the pole is out of bounds.
bool CartPoleFell(const CartPoleState& state);

class CartPole final : public Environment {
 public:
  static constexpr int kStepLimit = 500;

  // Starts are sampled from `seed` by environment and episode.
  explicit CartPole(std::uint64_t seed) : seed_(seed) {}

  static EnvironmentSpec Spec();
  static Pair OnlyPair() { return {.goal = "", .capture = "cartpole"}; }

  void Reset(const EpisodeStart& start, Done done) override;
  void Step(std::int64_t action, Done done) override;
  EpisodeFacts facts() const override;

 private:
  Observation Observe() const;

  const std::uint64_t seed_;
  CartPoleState state_ = {};
  int steps_ = 0;
};

}  // namespace shoal::actor
