// SPDX-License-Identifier: Apache-2.0
// The simulations by name, and section [environment.simulation] of the configuration.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "actor/environments/classic/simulation.h"
#include "platform/runtime/config.h"

namespace shoal::actor {

struct SimulationOptions {
  // The steps from the cue to the decision in "corridor".
  std::int64_t corridor_length = 10;
  // The torques that an action of "pendulum" chooses from.
  std::int64_t torque_levels = 5;
  // The bits of "bit_flip".
  std::int64_t bits = 12;

  void Visit(runtime::Visitor& visitor);
};

// The names that MakeSimulation knows, as values of environment.kind.
const std::vector<std::string>& SimulationKinds();

// Makes the simulation of that name, or returns null when there is none.
std::unique_ptr<Simulation> MakeSimulation(const std::string& kind,
                                           const SimulationOptions& options);

}  // namespace shoal::actor
