// SPDX-License-Identifier: Apache-2.0
// A cluster as its file, a preset and flags describe it, of which no program was started.
#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/cluster/effective_config.h"
#include "platform/runtime/cluster.h"
#include "platform/runtime/status.h"

namespace shoal::cli {

// What a person typed that describes the cluster.
struct PlanFlags {
  std::string config_path;
  // As for `shoal train`; may be empty.
  std::string preset;
  std::optional<std::int64_t> world_size;
  // The GPUs that an inference server finds where its device is "cuda:*".
  std::int64_t gpus = 1;
  // "section.key=value", over file and preset.
  std::vector<std::string> overrides;
};

struct PlannedCluster {
  runtime::ClusterOptions cluster;
  EffectiveConfig config;
  // What a program of the cluster is started with.
  std::vector<std::string> arguments;
};

// Adds FILE, --world-size, --gpus, --preset and --set to a subcommand. `flags` must outlive it.
void AddPlanFlags(CLI::App& command, PlanFlags& flags);

// Asks `programs` (names such as "learner") for their configuration. Returns INVALID_ARGUMENT with
// the message of the program that refuses, NOT_FOUND for a preset that does not exist.
absl::StatusOr<PlannedCluster> GatherCluster(const PlanFlags& flags,
                                             const std::vector<std::string>& programs);

}  // namespace shoal::cli
