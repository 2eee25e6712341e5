// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/classic/pendulum.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace shoal::actor {
namespace {

using std::numbers::pi;

constexpr float kMaximumTorque = 2.0F;
constexpr double kMaximumVelocity = 8.0;
constexpr double kGravity = 10.0;
constexpr double kStepSeconds = 0.05;

float Clipped(float torque) { return std::clamp(torque, -kMaximumTorque, kMaximumTorque); }

// Returns the same angle in [-pi, pi).
double Wrap(double angle) {
  const double turned = std::fmod(angle + pi, 2 * pi);
  return (turned < 0 ? turned + 2 * pi : turned) - pi;
}

}  // namespace

PendulumState AdvancePendulum(const PendulumState& state, float torque) {
  // The torque is a float and its terms are computed as floats, as in Gymnasium.
  const double push = static_cast<double>(3.0F * Clipped(torque));
  PendulumState next;
  next.velocity =
      std::clamp(state.velocity + (3 * kGravity / 2 * std::sin(state.angle) + push) * kStepSeconds,
                 -kMaximumVelocity, kMaximumVelocity);
  next.angle = state.angle + next.velocity * kStepSeconds;
  return next;
}

double PendulumReward(const PendulumState& state, float torque) {
  const float push = Clipped(torque);
  const double angle = Wrap(state.angle);
  return -(angle * angle + 0.1 * (state.velocity * state.velocity) +
           static_cast<double>(0.001F * (push * push)));
}

Pendulum::Pendulum(std::int64_t torque_levels)
    : spec_({.name = "pendulum",
             .observation_shape = {3},
             .actions = torque_levels,
             .step_limit = 200,
             .success_return = -200}) {}

TorquePendulum::TorquePendulum()
    : Pendulum(SimulationSpec{.name = "pendulum_continuous",
                              .observation_shape = {3},
                              .action_low = {-kMaximumTorque},
                              .action_high = {kMaximumTorque},
                              .step_limit = 200,
                              .success_return = -200}) {}

void Pendulum::Reset(const EpisodeDraws& draws) {
  state_ = {.angle = draws.Between(-pi, pi, 0), .velocity = draws.Between(-1, 1, 1)};
}

SimulationStep Pendulum::Step(std::int64_t action) {
  const float share = static_cast<float>(action) / static_cast<float>(spec_.actions - 1);
  return Push(kMaximumTorque * (2 * share - 1));
}

SimulationStep Pendulum::Push(float torque) {
  const double reward = PendulumReward(state_, torque);
  state_ = AdvancePendulum(state_, torque);
  return {.reward = static_cast<float>(reward), .terminated = false};
}

void Pendulum::Observe(std::span<float> out) const {
  out[0] = static_cast<float>(std::cos(state_.angle));
  out[1] = static_cast<float>(std::sin(state_.angle));
  out[2] = static_cast<float>(state_.velocity);
}

}  // namespace shoal::actor
