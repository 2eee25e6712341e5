// SPDX-License-Identifier: Apache-2.0
#include "actor/demonstrations/scripted_expert.h"

namespace shoal::actor {

const std::vector<std::string>& SimulationsWithExpert() {
  static const std::vector<std::string> kinds = {"mountain_car"};
  return kinds;
}

ScriptedExpert ExpertOf(const std::string& kind) {
  return kind == "mountain_car" ? ScriptedExpert(DriveMountainCar) : ScriptedExpert();
}

std::int64_t DriveMountainCar(std::span<const float> observation) {
  return observation[1] < 0 ? 0 : 2;
}

}  // namespace shoal::actor
