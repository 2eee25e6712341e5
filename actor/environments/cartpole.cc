// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/cartpole.h"

#include <cmath>
#include <numbers>
#include <utility>

#include "platform/runtime/random.h"

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

}  // namespace

CartPoleState AdvanceCartPole(const CartPoleState& state, std::int64_t action) {
  const auto [x, x_dot, theta, theta_dot] = state;
  const double force = action == 1 ? kForce : -kForce;
  const double cosine = std::cos(theta);
  const double sine = std::sin(theta);
  const double temp = (force + kPoleMassLength * theta_dot * theta_dot * sine) / kTotalMass;
  const double theta_acceleration =
      (kGravity * sine - cosine * temp) /
      (kHalfLength * (4.0 / 3.0 - kPoleMass * cosine * cosine / kTotalMass));
  const double x_acceleration = temp - kPoleMassLength * theta_acceleration * cosine / kTotalMass;
  return {x + kTau * x_dot, x_dot + kTau * x_acceleration, theta + kTau * theta_dot,
          theta_dot + kTau * theta_acceleration};
}

bool CartPoleFell(const CartPoleState& state) {
  return std::abs(state[0]) > kPositionLimit || std::abs(state[2]) > kAngleLimit;
}

EnvironmentSpec CartPole::Spec() {
  return {.observation_name = "numeric", .observation_size = 4, .content_fields = {}, .actions = 2};
}

void CartPole::Reset(const EpisodeStart& start, Done done) {
  for (std::uint32_t i = 0; i < state_.size(); ++i) {
    const double draw = runtime::UniformAt(seed_, start.environment_id, start.episode, i);
    state_[i] = -0.05 + 0.1 * draw;
  }
  steps_ = 0;
  done(Transition{.observation = Observe()});
}

void CartPole::Step(std::int64_t action, Done done) {
  if (action != 0 && action != 1) {
    done(runtime::InvalidArgument("cartpole has actions 0 and 1, not " + std::to_string(action)));
    return;
  }
  state_ = AdvanceCartPole(state_, action);
  ++steps_;
  Transition transition{.observation = Observe(), .reward = 1.0F};
  if (CartPoleFell(state_)) {
    transition.end = End::kTerminated;
  } else if (steps_ >= kStepLimit) {
    transition.end = End::kTruncated;
  }
  done(std::move(transition));
}

EpisodeFacts CartPole::facts() const {
  EpisodeFacts facts;
  facts.goal = OnlyPair().goal;
  facts.capture = OnlyPair().capture;
  facts.steps = steps_;
  facts.success = facts.clean = steps_ >= kStepLimit;
  return facts;
}

Observation CartPole::Observe() const {
  Observation observation;
  observation.numeric.reserve(state_.size());
  for (const double value : state_) observation.numeric.push_back(static_cast<float>(value));
  return observation;
}

}  // namespace shoal::actor
