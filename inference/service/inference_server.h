// SPDX-License-Identifier: Apache-2.0
// The inference process without its main. It creates all parts, which inference/README.md draws, in
// order and drains them in order. Health reports SERVING once there are parameters. Thread-safe.
#pragma once

#include <memory>
#include <string>

#include "inference/core/unroll_priority.h"
#include "inference/service/options.h"
#include "platform/runtime/clock.h"
#include "platform/runtime/cluster.h"
#include "platform/runtime/metrics.h"
#include "platform/runtime/status.h"
#include "platform/transport/connector.h"
#include "rl/model/policy_spec.h"

namespace shoal::inference {

struct InferenceConfig {
  InferenceOptions options;
  model::PolicySpec policy;
  // How the learner makes targets, for the first priorities of unrolls with action values.
  PriorityOptions priority;
  runtime::RunOptions run;
  // Without `replay` finished unrolls are dropped. Without `learner` only the parameters in the
  // parameters folder act.
  runtime::ClusterOptions cluster;
  // How the replay shards are reached.
  transport::Connector connect_replay = transport::OverSockets();
  // The index of this server among several.
  std::int64_t index = 0;
};

class InferenceServer {
 public:
  // Starts to listen at once. INVALID_ARGUMENT and FAILED_PRECONDITION name the knob, file or
  // address. `metrics` must outlive the server.
  static absl::StatusOr<std::unique_ptr<InferenceServer>> Create(InferenceConfig config,
                                                                 runtime::Metrics& metrics);
  // Stops without grace if Drain was not called.
  ~InferenceServer();

  const std::string& address() const;
  std::uint64_t server_epoch() const;

  // Sets health to NOT_SERVING, answers the waiting rows, drops unrolls without room in replay,
  // ends the streams, and gives the outboxes until `grace` to empty, in this order. Returns OK if
  // everything was answered and acknowledged, and DEADLINE_EXCEEDED otherwise. Call it once.
  absl::Status Drain(std::chrono::milliseconds grace);

 private:
  class Parts;
  explicit InferenceServer(std::unique_ptr<Parts> parts);
  const std::unique_ptr<Parts> parts_;
};

}  // namespace shoal::inference
