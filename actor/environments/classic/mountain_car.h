// SPDX-License-Identifier: Apache-2.0
// A car in a valley whose engine is too weak for the slope, so that it must swing up: the physics
// of Gymnasium's MountainCar-v0 (Moore, "Efficient memory-based learning for robot control",
// Cambridge 1990).
//
// An episode terminates when the car reaches position 0.5, and is limited to 200 steps. Each step
// earns -1.
#pragma once

#include "actor/environments/classic/simulation.h"

namespace shoal::actor {

struct MountainCarState {
  // Within [-1.2, 0.6].
  double position = 0;
  // Of one step; within [-0.07, 0.07].
  double velocity = 0;
};

// Advances by one step: action 0 pushes to the left, 1 not at all and 2 to the right.
MountainCarState AdvanceMountainCar(const MountainCarState& state, std::int64_t action);

class MountainCar final : public Simulation {
 public:
  MountainCar();

  // Begins an episode in `state`.
  void Begin(const MountainCarState& state) { state_ = state; }
  const MountainCarState& state() const { return state_; }

  const SimulationSpec& spec() const override { return spec_; }
  // The car stands still at a position uniform in [-0.6, -0.4).
  void Reset(const EpisodeDraws& draws) override;
  SimulationStep Step(std::int64_t action) override;
  // Position and velocity.
  void Observe(std::span<float> out) const override;

 private:
  const SimulationSpec spec_;
  MountainCarState state_ = {};
};

}  // namespace shoal::actor
