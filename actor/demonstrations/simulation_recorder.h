// SPDX-License-Identifier: Apache-2.0
// Records what the scripted expert of a small task does as demonstrations
// (proto/demonstration.proto).
//
// An episode is kept when the task's own rules end it within the step limit with at least the
// return of a success; others are counted as left out. The same seed gives the same messages.
#pragma once

#include <cstdint>
#include <string>

#include "actor/environments/classic/simulation_kind.h"
#include "platform/runtime/status.h"
#include "proto/demonstration.pb.h"

namespace shoal::actor {

struct SimulationRecording {
  // A value of environment.kind.
  std::string kind;
  SimulationOptions simulation = {};
  std::uint64_t episodes = 40;
  // Starts are draws of it.
  std::uint64_t seed = 1;
};

// Returns INVALID_ARGUMENT for a kind without an expert, naming those that have one.
absl::StatusOr<proto::DemonstrationChunk> RecordSimulation(const SimulationRecording& recording);

}  // namespace shoal::actor
