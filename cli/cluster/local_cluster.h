// SPDX-License-Identifier: Apache-2.0
// The plan of a local cluster: its processes, and the arguments that each is started with.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "cli/cluster/child_process.h"
#include "cli/cluster/metrics_address.h"
#include "platform/runtime/cluster.h"
#include "platform/runtime/status.h"

namespace shoal::cli {

// The order in which the processes of a cluster are stopped: those that make work first, those that
// serve others last.
enum Stage : int { kActors = 0, kLearner, kInference, kReplay, kMockserver };

struct PlannedProcess {
  ProcessSpec spec;
  Stage stage = kActors;
  // Where the process serves metrics, or each of its parts does.
  std::vector<MetricsAddress> metrics = {};
};

struct ClusterPlan {
  // Folder of the programs.
  std::string programs;
  // The effective configuration, which all processes read.
  std::string config_path;
  // Folder of the logs.
  std::string logs;
  runtime::ClusterOptions cluster;
  // Whether environments are Redfish services over HTTP.
  bool mockserver = false;
  bool learner = true;
  bool actors = true;
  // Whether the learner, and training with it, ends by itself after a number of updates.
  bool learner_finishes = false;
  // Whether all but the mock server are parts of one process, the program local.
  bool in_process = false;
};

// The processes that only some clusters have.
struct OptionalProcesses {
  bool mockserver = true;
  bool learner = true;
};

// Gives every process without an address a free one on 127.0.0.1. A process that the cluster does
// not have gets none. Returns INVALID_ARGUMENT when the length of a list differs from the number of
// processes.
absl::Status FillAddresses(runtime::ClusterOptions& cluster, const OptionalProcesses& processes);

// Returns the addresses of `cluster` as arguments for --set.
std::vector<std::string> AddressOverrides(const runtime::ClusterOptions& cluster);

// Returns the processes in the order in which to start them. REQUIRES: addresses are filled in.
absl::StatusOr<std::vector<PlannedProcess>> PlanCluster(const ClusterPlan& plan);

// Returns the folder of this program.
std::string ProgramFolder();

// Free TCP ports on 127.0.0.1 for a local cluster.
//
// Returns `count` different addresses "127.0.0.1:PORT" on which nobody listens and that are not
// among `taken`, on which somebody is about to. The ports lie below the range that the kernel gives
// to outgoing connections, so that a process that is started again finds its port free. Returns
// RESOURCE_EXHAUSTED when there are not enough.
absl::StatusOr<std::vector<std::string>> FreeLoopbackAddresses(
    int count, const std::set<std::string>& taken = {});

}  // namespace shoal::cli
