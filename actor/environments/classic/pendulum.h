// SPDX-License-Identifier: Apache-2.0
// A pendulum that a torque swings up and keeps upright: the physics of Gymnasium's Pendulum-v1.
//
// Gymnasium's action is a torque from -2 to 2 N m, as that of TorquePendulum is. An action of
// Pendulum chooses one of a number of torques that divide this range evenly. An episode never
// terminates and is limited to 200 steps. A step costs the squared angle from upright, a tenth of
// the squared velocity and a thousandth of the squared torque.
#pragma once

#include <utility>

#include "actor/environments/classic/simulation.h"

namespace shoal::actor {

struct PendulumState {
  // From upright, in rad; not wrapped.
  double angle = 0;
  // In rad/s, at most 8.
  double velocity = 0;
};

// Advances by one step of 0.05 s under `torque` in N m, which is clipped to [-2, 2].
PendulumState AdvancePendulum(const PendulumState& state, float torque);

// What a step from `state` under `torque` earns; never above 0.
double PendulumReward(const PendulumState& state, float torque);

class Pendulum : public Simulation {
 public:
  // REQUIRES: torque_levels >= 2.
  explicit Pendulum(std::int64_t torque_levels);

  // Begins an episode in `state`.
  void Begin(const PendulumState& state) { state_ = state; }
  const PendulumState& state() const { return state_; }

  const SimulationSpec& spec() const override { return spec_; }
  // The angle is uniform in [-pi, pi) and the velocity in [-1, 1).
  void Reset(const EpisodeDraws& draws) override;
  SimulationStep Step(std::int64_t action) override;
  // Cosine and sine of the angle, and the velocity.
  void Observe(std::span<float> out) const override;

 protected:
  explicit Pendulum(SimulationSpec spec) : spec_(std::move(spec)) {}
  SimulationStep Push(float torque);

 private:
  const SimulationSpec spec_;
  PendulumState state_ = {};
};

// The pendulum whose action is the torque itself, a box of one dimension.
class TorquePendulum final : public Pendulum {
 public:
  TorquePendulum();

  // No action is a number, so nothing happens.
  SimulationStep Step(std::int64_t /*action*/) override { return {}; }
  SimulationStep StepBox(std::span<const float> action) override { return Push(action[0]); }
};

}  // namespace shoal::actor
