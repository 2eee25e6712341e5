// SPDX-License-Identifier: Apache-2.0
// The machine room holds all machines of a simulated cluster, and says which of them runs a
// process.
//
// It borrows the event queue and the kinds of machines. Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/simulation/event_queue.h"
#include "cli/simulation/simulated_machine.h"
#include "cli/simulation/simulation_options.h"

namespace shoal::cli {

// A resource of all machines or processes of a kind.
struct MeteredResource {
  std::string name;
  double used = 0;
  // What there is of it each second.
  double capacity = 0;
};

class MachineRoom {
 public:
  MachineRoom(EventQueue& events, const std::vector<SimulatedMachines>& kinds);

  // The machines that run a program.
  std::vector<SimulatedMachine*> HomesOf(std::string_view program) const;
  // The one of them that runs this process of `count`. REQUIRES: there is one.
  SimulatedMachine& HomeOf(std::string_view program, std::int64_t index, std::int64_t count) const;
  // Adds processors and network of each kind, with how much of them was used since the beginning.
  void AddResources(std::vector<MeteredResource>& resources) const;

 private:
  const std::vector<SimulatedMachines>& kinds_;
  // By kind.
  std::vector<std::vector<std::unique_ptr<SimulatedMachine>>> machines_;
};

}  // namespace shoal::cli
