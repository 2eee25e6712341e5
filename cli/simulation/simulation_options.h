// SPDX-License-Identifier: Apache-2.0
// What a simulation of a cluster knows of the world outside its configuration: what the elementary
// operations cost, and the machines. It is section [simulation] of a TOML file, and its costs can
// be measured from a run.
//
// Values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "platform/runtime/config.h"
#include "platform/runtime/status.h"

namespace shoal::cli {

// Times are those of one processor (or of the device, where a program computes on one), bytes those
// on the wire.
struct SimulatedCosts {
  // An environment's step in the actor, and in the simulated service that it drives over HTTP.
  double actor_step_us = 0;
  double service_step_us = 0;
  // Time that a step takes without any processor of ours, as of a real host.
  double environment_wait_us = 0;
  // A batch of inference takes batch + rows * row.
  double inference_batch_us = 0;
  double inference_row_us = 0;
  // A batch's share that a processor works beside the device.
  double inference_host_row_us = 0;
  bool inference_on_device = false;
  // An item's way into a shard and out of it once, together.
  double shard_item_us = 0;
  // An update takes update + rows * row. The rows are those of one rank.
  double learner_update_us = 0;
  double learner_row_us = 0;
  double learner_host_row_us = 0;
  bool learner_on_device = false;
  double row_bytes = 4000;
  double item_bytes = 20000;
  double parameter_bytes = 4000000;

  void Visit(runtime::Visitor& visitor);
};

struct SimulatedMachines {
  std::string name = "machine";
  std::int64_t count = 1;
  double processors = 2;
  double gigabits_per_second = 25;
  double latency_us = 30;
  // The programs that run there: actor, mockserver, inference, replay, learner. Processes of a
  // program are spread evenly over all machines that name it.
  std::vector<std::string> programs = {"actor", "mockserver", "inference", "replay", "learner"};

  bool Runs(std::string_view program) const;
  double bytes_per_second() const { return gigabits_per_second * 1e9 / 8; }
  void Visit(runtime::Visitor& visitor);
};

struct SimulationOptions {
  SimulatedCosts costs;
  // Without any, one machine with two processors runs everything.
  std::vector<SimulatedMachines> machines = {SimulatedMachines()};

  void Visit(runtime::Visitor& visitor);

  // Returns section [simulation] as TOML.
  std::string Print() const;
};

// Reads section [simulation] of a TOML file. Returns INVALID_ARGUMENT, which names file and key,
// for a file that is wrong, for a program that no machine runs, and NOT_FOUND without the file.
absl::StatusOr<SimulationOptions> ReadSimulationFile(const std::string& path);

// Returns what operations cost in a run of one machine, from the second half of the measurements in
// its folder: the processor time of each program divided by what it did. What inference and
// services do for evaluations counts as part of training's steps. A batch of inference and an
// update count as proportional to their rows. The machine is one with `processors`. Returns
// FAILED_PRECONDITION for a run that measured too little.
absl::StatusOr<SimulationOptions> MeasureRun(const std::string& run_path, double processors);

}  // namespace shoal::cli
