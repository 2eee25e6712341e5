// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/classic/cartpole.h"

#include <cmath>
#include <numbers>

namespace shoal::actor {
namespace {

constexpr double kGravity = 9.8;
constexpr double kPoleMass = 0.1;
constexpr double kTotalMass = 1.0 + kPoleMass;
constexpr double kHalfLength = 0.5;
constexpr double kPoleMassLength = kPoleMass * kHalfLength;
constexpr double kForce = 10.0;
constexpr double kTau = 0.02;
constexpr double kPositionLimit = 2.4;
constexpr double kAngleLimit = 12.0 * 2.0 * std::numbers::pi / 360.0;
constexpr int kStepLimit = 500;

SimulationSpec SpecOf(CartPole::Sees sees) {
  const bool all = sees == CartPole::Sees::kAll;
  return {.name = all ? "cartpole" : "cartpole_masked",
          .observation_shape = {all ? 4 : 2},
          .actions = 2,
          .step_limit = kStepLimit,
          .success_return = kStepLimit};
}

}  // namespace

CartPoleState AdvanceCartPole(const CartPoleState& state, std::int64_t action) {
  const auto [x, x_dot, theta, theta_dot] = state;
  const double force = action == 1 ? kForce : -kForce;
  const double cosine = std::cos(theta);
  const double sine = std::sin(theta);
  const double temp = (force + kPoleMassLength * (theta_dot * theta_dot) * sine) / kTotalMass;
  const double theta_acceleration =
      (kGravity * sine - cosine * temp) /
      (kHalfLength * (4.0 / 3.0 - kPoleMass * (cosine * cosine) / kTotalMass));
  const double x_acceleration = temp - kPoleMassLength * theta_acceleration * cosine / kTotalMass;
  return {x + kTau * x_dot, x_dot + kTau * x_acceleration, theta + kTau * theta_dot,
          theta_dot + kTau * theta_acceleration};
}

bool CartPoleFell(const CartPoleState& state) {
  return std::abs(state[0]) > kPositionLimit || std::abs(state[2]) > kAngleLimit;
}

CartPole::CartPole(Sees sees) : sees_(sees), spec_(SpecOf(sees)) {}

void CartPole::Reset(const EpisodeDraws& draws) {
  for (std::uint32_t i = 0; i < state_.size(); ++i) state_[i] = draws.Between(-0.05, 0.05, i);
}

SimulationStep CartPole::Step(std::int64_t action) {
  state_ = AdvanceCartPole(state_, action);
  return {.reward = 1.0F, .terminated = CartPoleFell(state_)};
}

void CartPole::Observe(std::span<float> out) const {
  const std::size_t stride = sees_ == Sees::kAll ? 1 : 2;
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<float>(state_[i * stride]);
}

}  // namespace shoal::actor
