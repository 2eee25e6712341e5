// SPDX-License-Identifier: Apache-2.0
// A pole on a cart, balanced by pushing left or right: the physics of Gymnasium's CartPole-v1
// (Barto, Sutton and Anderson, "Neuronlike adaptive elements that can solve difficult learning
// control problems", IEEE SMC 13, 1983).
//
// The simulation is explicit Euler in double precision, and observations are rounded to float. An
// episode terminates when the cart passes 2.4 m or the pole 12 degrees, and is limited to 500
// steps. Each step earns 1.
//
// With the velocities masked, the agent sees position and angle alone and needs a memory to
// balance the pole for long.
#pragma once

#include <array>

#include "actor/environments/classic/simulation.h"

namespace shoal::actor {

// Position in m, velocity in m/s, angle in rad, angular velocity in rad/s.
using CartPoleState = std::array<double, 4>;

// Advances by one Euler step of 0.02 s under a force of 10 N, to the right when `action` is 1.
CartPoleState AdvanceCartPole(const CartPoleState& state, std::int64_t action);

// Whether the cart or the pole is out of bounds.
bool CartPoleFell(const CartPoleState& state);

class CartPole final : public Simulation {
 public:
  enum class Sees : std::uint8_t { kAll, kNoVelocities };

  explicit CartPole(Sees sees);

  // Begins an episode in `state`.
  void Begin(const CartPoleState& state) { state_ = state; }
  const CartPoleState& state() const { return state_; }

  const SimulationSpec& spec() const override { return spec_; }
  void Reset(const EpisodeDraws& draws) override;
  SimulationStep Step(std::int64_t action) override;
  void Observe(std::span<float> out) const override;

 private:
  const Sees sees_;
  const SimulationSpec spec_;
  CartPoleState state_ = {};
};

}  // namespace shoal::actor
