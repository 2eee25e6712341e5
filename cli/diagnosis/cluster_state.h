// SPDX-License-Identifier: Apache-2.0
// What the processes of a cluster answer when they are asked how they are.
#pragma once

#include <string>
#include <vector>

#include "cli/cluster/metrics_address.h"
#include "cli/metrics/metric_text.h"
#include "platform/runtime/clock.h"
#include "platform/runtime/cluster.h"
#include "platform/runtime/status.h"
#include "proto/replay.pb.h"

namespace shoal::cli {

// A process that serves others, and its answer to a question about its health.
struct ServingProcess {
  // "replay shard", "inference server", "learner" or "mock server".
  std::string role;
  std::string address;
  absl::Status health;
};

struct ShardAnswer {
  std::string address;
  absl::StatusOr<proto::InfoReply> info = absl::UnknownError("not asked");
};

// A process of a run that `shoal` started, and its metrics.
struct MeasuredProcess {
  // Such as "actor-0".
  std::string name;
  absl::StatusOr<std::vector<MetricSample>> metrics = absl::UnknownError("not asked");
};

struct ClusterState {
  std::vector<ServingProcess> serving;
  std::vector<ShardAnswer> shards;
  // Empty if nobody wrote down where the processes serve metrics.
  std::vector<MeasuredProcess> measured;
};

// Convert the list to and from the text of <run>/processes.json. Parse returns INVALID_ARGUMENT for
// any other text.
std::string ToJson(const std::vector<MetricsAddress>& processes);
absl::StatusOr<std::vector<MetricsAddress>> ParseMetricsAddresses(const std::string& text);

// Asks all processes that `cluster` and `processes` name, one kind after another. Blocks at most
// `timeout` for each process that serves gRPC or HTTP, and half a second for each one's metrics.
ClusterState AskCluster(const runtime::ClusterOptions& cluster,
                        const std::vector<MetricsAddress>& processes, runtime::Duration timeout);

}  // namespace shoal::cli
