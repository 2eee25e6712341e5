// SPDX-License-Identifier: Apache-2.0
// Two links that hang from a fixed joint, swung up by a torque between them: the physics of
// Gymnasium's Acrobot-v1 (Sutton, "Generalization in reinforcement learning: successful examples
// using sparse coarse coding", NIPS 1996), in the form of Sutton and Barto's book.
//
// One step is 0.2 s of fourth-order Runge-Kutta in double precision. An episode terminates when the
// tip is more than one link's length above the joint, and is limited to 500 steps. Each step earns
// -1, but the last one of a swing-up 0.
#pragma once

#include <array>

#include "actor/environments/classic/simulation.h"

namespace shoal::actor {

// The angle of the first link from hanging down and that of the second from the first, in rad and
// within [-pi, pi]; then their velocities in rad/s, at most 4 pi and 9 pi.
using AcrobotState = std::array<double, 4>;

// Advances by one step under a torque of action - 1 N m. REQUIRES: 0 <= action <= 2.
AcrobotState AdvanceAcrobot(const AcrobotState& state, std::int64_t action);

// Whether the tip is high enough.
bool AcrobotIsUp(const AcrobotState& state);

class Acrobot final : public Simulation {
 public:
  Acrobot();

  // Begins an episode in `state`.
  void Begin(const AcrobotState& state) { state_ = state; }
  const AcrobotState& state() const { return state_; }

  const SimulationSpec& spec() const override { return spec_; }
  // The angles and velocities are uniform in [-0.1, 0.1), rounded to float as Gymnasium's are.
  void Reset(const EpisodeDraws& draws) override;
  SimulationStep Step(std::int64_t action) override;
  // Cosine and sine of the first angle, those of the second, and both velocities.
  void Observe(std::span<float> out) const override;

 private:
  const SimulationSpec spec_;
  AcrobotState state_ = {};
};

}  // namespace shoal::actor
