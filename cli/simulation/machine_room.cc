// SPDX-License-Identifier: Apache-2.0
#include "cli/simulation/machine_room.h"

#include <algorithm>

namespace shoal::cli {

MachineRoom::MachineRoom(EventQueue& events, const std::vector<SimulatedMachines>& kinds)
    : kinds_(kinds) {
  constexpr double kMicro = 1e-6;
  for (const SimulatedMachines& kind : kinds_) {
    auto& group = machines_.emplace_back();
    for (std::int64_t i = 0; i < kind.count; ++i) {
      group.push_back(std::make_unique<SimulatedMachine>(
          events, kind.processors, kind.bytes_per_second(), kind.latency_us * kMicro));
    }
  }
}

std::vector<SimulatedMachine*> MachineRoom::HomesOf(std::string_view program) const {
  std::vector<SimulatedMachine*> homes;
  for (std::size_t kind = 0; kind < machines_.size(); ++kind) {
    if (!kinds_[kind].Runs(program)) continue;
    for (const auto& machine : machines_[kind]) homes.push_back(machine.get());
  }
  return homes;
}

SimulatedMachine& MachineRoom::HomeOf(std::string_view program, std::int64_t index,
                                      std::int64_t count) const {
  const std::vector<SimulatedMachine*> homes = HomesOf(program);
  const auto places = static_cast<std::int64_t>(homes.size());
  // Neighbours share a machine where there are more processes than machines.
  const std::int64_t place = count <= places ? index : index * places / count;
  return *homes[static_cast<std::size_t>(place)];
}

void MachineRoom::AddResources(std::vector<MeteredResource>& resources) const {
  for (std::size_t i = 0; i < machines_.size(); ++i) {
    const SimulatedMachines& kind = kinds_[i];
    const double count = static_cast<double>(kind.count);
    double processors = 0;
    double bytes = 0;
    for (const auto& machine : machines_[i]) {
      processors += machine->processors.busy_seconds();
      bytes += std::max(machine->network.bytes_in, machine->network.bytes_out);
    }
    resources.push_back({"processors of " + kind.name, processors, count * kind.processors});
    resources.push_back({"network of " + kind.name, bytes, count * kind.bytes_per_second()});
  }
}

}  // namespace shoal::cli
