// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/classic/acrobot.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace shoal::actor {
namespace {

using std::numbers::pi;

constexpr double kStepSeconds = 0.2;
constexpr double kGravity = 9.8;
constexpr double kMass = 1.0;
constexpr double kLength = 1.0;
constexpr double kCentre = 0.5;
constexpr double kInertia = 1.0;
constexpr double kMaximumVelocity1 = 4 * pi;
constexpr double kMaximumVelocity2 = 9 * pi;

AcrobotState Derivative(const AcrobotState& state, double torque) {
  const auto [theta1, theta2, velocity1, velocity2] = state;
  const double cosine2 = std::cos(theta2);
  const double sine2 = std::sin(theta2);
  const double d1 =
      kMass * (kCentre * kCentre) +
      kMass * (kLength * kLength + kCentre * kCentre + 2 * kLength * kCentre * cosine2) + kInertia +
      kInertia;
  const double d2 = kMass * (kCentre * kCentre + kLength * kCentre * cosine2) + kInertia;
  const double phi2 = kMass * kCentre * kGravity * std::cos(theta1 + theta2 - pi / 2);
  const double phi1 = -kMass * kLength * kCentre * (velocity2 * velocity2) * sine2 -
                      2 * kMass * kLength * kCentre * velocity2 * velocity1 * sine2 +
                      (kMass * kCentre + kMass * kLength) * kGravity * std::cos(theta1 - pi / 2) +
                      phi2;
  const double acceleration2 =
      (torque + d2 / d1 * phi1 - kMass * kLength * kCentre * (velocity1 * velocity1) * sine2 -
       phi2) /
      (kMass * (kCentre * kCentre) + kInertia - d2 * d2 / d1);
  const double acceleration1 = -(d2 * acceleration2 + phi1) / d1;
  return {velocity1, velocity2, acceleration1, acceleration2};
}

AcrobotState Moved(const AcrobotState& state, double factor, const AcrobotState& by) {
  AcrobotState moved = state;
  for (std::size_t i = 0; i < moved.size(); ++i) moved[i] += factor * by[i];
  return moved;
}

double Wrap(double angle) {
  while (angle > pi) angle -= 2 * pi;
  while (angle < -pi) angle += 2 * pi;
  return angle;
}

}  // namespace

AcrobotState AdvanceAcrobot(const AcrobotState& state, std::int64_t action) {
  const double torque = static_cast<double>(action - 1);
  const AcrobotState k1 = Derivative(state, torque);
  const AcrobotState k2 = Derivative(Moved(state, kStepSeconds / 2, k1), torque);
  const AcrobotState k3 = Derivative(Moved(state, kStepSeconds / 2, k2), torque);
  const AcrobotState k4 = Derivative(Moved(state, kStepSeconds, k3), torque);
  AcrobotState next = state;
  for (std::size_t i = 0; i < next.size(); ++i) {
    next[i] += kStepSeconds / 6 * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i]);
  }
  return {Wrap(next[0]), Wrap(next[1]), std::clamp(next[2], -kMaximumVelocity1, kMaximumVelocity1),
          std::clamp(next[3], -kMaximumVelocity2, kMaximumVelocity2)};
}

bool AcrobotIsUp(const AcrobotState& state) {
  return -std::cos(state[0]) - std::cos(state[1] + state[0]) > kLength;
}

Acrobot::Acrobot()
    : spec_({.name = "acrobot",
             .observation_shape = {6},
             .actions = 3,
             .step_limit = 500,
             .success_return = -100}) {}

void Acrobot::Reset(const EpisodeDraws& draws) {
  for (std::uint32_t i = 0; i < state_.size(); ++i) {
    state_[i] = static_cast<double>(static_cast<float>(draws.Between(-0.1, 0.1, i)));
  }
}

SimulationStep Acrobot::Step(std::int64_t action) {
  state_ = AdvanceAcrobot(state_, action);
  const bool up = AcrobotIsUp(state_);
  return {.reward = up ? 0.0F : -1.0F, .terminated = up};
}

void Acrobot::Observe(std::span<float> out) const {
  out[0] = static_cast<float>(std::cos(state_[0]));
  out[1] = static_cast<float>(std::sin(state_[0]));
  out[2] = static_cast<float>(std::cos(state_[1]));
  out[3] = static_cast<float>(std::sin(state_[1]));
  out[4] = static_cast<float>(state_[2]);
  out[5] = static_cast<float>(state_[3]);
}

}  // namespace shoal::actor
