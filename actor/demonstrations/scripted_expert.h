// SPDX-License-Identifier: Apache-2.0
// Experts of small tasks as rules of a few lines: pure functions from what an agent sees to what an
// expert does.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace shoal::actor {

// Takes an observation of the simulation, row-major, and returns one of its discrete actions.
using ScriptedExpert = std::function<std::int64_t(std::span<const float> observation)>;

// Returns the names of the simulations that have an expert, as values of environment.kind.
const std::vector<std::string>& SimulationsWithExpert();

// Returns the expert of the simulation of that name, or an empty function when there is none.
ScriptedExpert ExpertOf(const std::string& kind);

// The expert of MountainCar, [position, velocity]: it pushes the way the car goes, so that each
// swing adds energy.
std::int64_t DriveMountainCar(std::span<const float> observation);

}  // namespace shoal::actor
