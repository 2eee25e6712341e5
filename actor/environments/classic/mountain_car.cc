// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/classic/mountain_car.h"

#include <algorithm>
#include <cmath>

namespace shoal::actor {
namespace {

constexpr double kForce = 0.001;
constexpr double kGravity = 0.0025;
constexpr double kMaximumSpeed = 0.07;
constexpr double kLeftEnd = -1.2;
constexpr double kRightEnd = 0.6;
constexpr double kGoal = 0.5;

}  // namespace

MountainCarState AdvanceMountainCar(const MountainCarState& state, std::int64_t action) {
  const double push = static_cast<double>(action - 1) * kForce;
  MountainCarState next;
  next.velocity = std::clamp(state.velocity + (push + std::cos(3 * state.position) * -kGravity),
                             -kMaximumSpeed, kMaximumSpeed);
  next.position = std::clamp(state.position + next.velocity, kLeftEnd, kRightEnd);
  if (next.position == kLeftEnd && next.velocity < 0) next.velocity = 0;
  return next;
}

MountainCar::MountainCar()
    : spec_({.name = "mountain_car",
             .observation_shape = {2},
             .actions = 3,
             .step_limit = 200,
             .success_return = -130}) {}

void MountainCar::Reset(const EpisodeDraws& draws) {
  state_ = {.position = draws.Between(-0.6, -0.4, 0), .velocity = 0};
}

SimulationStep MountainCar::Step(std::int64_t action) {
  state_ = AdvanceMountainCar(state_, action);
  return {.reward = -1.0F, .terminated = state_.position >= kGoal && state_.velocity >= 0};
}

void MountainCar::Observe(std::span<float> out) const {
  out[0] = static_cast<float>(state_.position);
  out[1] = static_cast<float>(state_.velocity);
}

}  // namespace shoal::actor
