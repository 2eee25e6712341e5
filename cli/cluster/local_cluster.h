// SPDX-License-Identifier: Apache-2.0
// Which processes a local cluster has, and with what arguments each is started.
#pragma once

#include <string>
#include <vector>

#include "cli/cluster/child_process.h"
#include "platform/runtime/cluster.h"
#include "platform/runtime/status.h"

namespace shoal::cli {

// The order in which a cluster ends: who makes work first, who serves last.
enum Stage : int { kActors = 0, kLearner, kInference, kReplay, kMockserver };

struct PlannedProcess {
  ProcessSpec spec;
  Stage stage = kActors;
  // Where it serves metrics.
  std::string metrics_address;
};

struct ClusterPlan {
  // Folder of the programs.
  std::string programs;
  // The effective configuration that all read.
  std::string config_path;
  // Folder of the logs.
  std::string logs;
  runtime::ClusterOptions cluster;
  // Environments are Redfish services over HTTP.
  bool mockserver = false;
  bool learner = true;
  bool actors = true;
  // The learner ends by itself after a number of updates, and training with it.
  bool learner_finishes = false;
};

// Which of the processes that not every cluster has are there.
struct OptionalProcesses {
  bool mockserver = true;
  bool learner = true;
};

// Gives every process that has no address yet a free one of 127.0.0.1; one that is not there stays
// without. INVALID_ARGUMENT when the lists do not fit the numbers of processes.
absl::Status FillAddresses(runtime::ClusterOptions& cluster, const OptionalProcesses& processes);

// `cluster`'s addresses as arguments for --set.
std::vector<std::string> AddressOverrides(const runtime::ClusterOptions& cluster);

// In the order of starting. Addresses must be filled.
absl::StatusOr<std::vector<PlannedProcess>> PlanCluster(const ClusterPlan& plan);

// The folder of this program.
std::string ProgramFolder();

}  // namespace shoal::cli
