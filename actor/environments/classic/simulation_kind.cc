// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/classic/simulation_kind.h"

#include <functional>
#include <utility>

#include "actor/environments/classic/acrobot.h"
#include "actor/environments/classic/bit_flip.h"
#include "actor/environments/classic/cartpole.h"
#include "actor/environments/classic/catch_game.h"
#include "actor/environments/classic/key_door_maze.h"
#include "actor/environments/classic/memory_corridor.h"
#include "actor/environments/classic/mountain_car.h"
#include "actor/environments/classic/pendulum.h"
#include "actor/environments/classic/pixel_catch.h"

namespace shoal::actor {
namespace {

using Maker = std::function<std::unique_ptr<Simulation>(const SimulationOptions&)>;

const std::vector<std::pair<std::string, Maker>>& Makers() {
  static const std::vector<std::pair<std::string, Maker>> makers = {
      {"cartpole", [](const auto&) { return std::make_unique<CartPole>(CartPole::Sees::kAll); }},
      {"cartpole_masked",
       [](const auto&) { return std::make_unique<CartPole>(CartPole::Sees::kNoVelocities); }},
      {"acrobot", [](const auto&) { return std::make_unique<Acrobot>(); }},
      {"mountain_car", [](const auto&) { return std::make_unique<MountainCar>(); }},
      {"pendulum",
       [](const auto& options) { return std::make_unique<Pendulum>(options.torque_levels); }},
      {"pendulum_continuous", [](const auto&) { return std::make_unique<TorquePendulum>(); }},
      {"catch", [](const auto&) { return std::make_unique<CatchGame>(); }},
      {"corridor",
       [](const auto& options) {
         return std::make_unique<MemoryCorridor>(options.corridor_length);
       }},
      {"maze", [](const auto&) { return std::make_unique<KeyDoorMaze>(); }},
      {"bit_flip",
       [](const auto& options) {
         return std::make_unique<BitFlip>(static_cast<int>(options.bits));
       }},
      {"pixels", [](const auto&) { return std::make_unique<PixelCatch>(); }},
  };
  return makers;
}

}  // namespace

void SimulationOptions::Visit(runtime::Visitor& visitor) {
  visitor.Knob("corridor_length", corridor_length,
               {.help = "steps from the cue to the decision in the corridor",
                .unit = "steps",
                .min = 1,
                .max = 10000});
  visitor.Knob("torque_levels", torque_levels,
               {.help = "torques from -2 to 2 N m that an action of the pendulum chooses from",
                .min = 2,
                .max = 1001});
  visitor.Knob("bits", bits,
               {.help = "bits that an episode of bit_flip makes equal to those of its goal",
                .min = 1,
                .max = BitFlip::kMaximumBits});
}

const std::vector<std::string>& SimulationKinds() {
  static const std::vector<std::string> kinds = [] {
    std::vector<std::string> names;
    for (const auto& [name, make] : Makers()) names.push_back(name);
    return names;
  }();
  return kinds;
}

std::unique_ptr<Simulation> MakeSimulation(const std::string& kind,
                                           const SimulationOptions& options) {
  for (const auto& [name, make] : Makers()) {
    if (name == kind) return make(options);
  }
  return nullptr;
}

}  // namespace shoal::actor
