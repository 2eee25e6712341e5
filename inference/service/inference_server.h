// SPDX-License-Identifier: Apache-2.0
// The inference process without its main: all pieces, made in order and ended in order.
//
//   gRPC reactions -> Intake (decode, Admission) -> Batcher -> ActingStage (ActEngine) -> replay
//                          |   ^                                    ^
//                          v   | encoded                            | versions
//                     EncodingStage                             Subscriber
//
// Health says SERVING once there are parameters. Thread-safe.
#pragma once

#include <memory>
#include <string>

#include "inference/service/options.h"
#include "platform/runtime/clock.h"
#include "platform/runtime/cluster.h"
#include "platform/runtime/metrics.h"
#include "platform/runtime/status.h"
#include "rl/model/policy_spec.h"

namespace shoal::inference {

struct InferenceConfig {
  InferenceOptions options;
  model::PolicySpec policy;
  runtime::RunOptions run;
  // `replay` empty: unrolls end here. `learner` empty: only what the parameters folder holds acts.
  runtime::ClusterOptions cluster;
  // Of several servers.
  std::int64_t index = 0;
};

class InferenceServer {
 public:
  // Listens at once. INVALID_ARGUMENT and FAILED_PRECONDITION name the knob, file or address.
  // `metrics` outlives the server.
  static absl::StatusOr<std::unique_ptr<InferenceServer>> Create(InferenceConfig config,
                                                                 runtime::Metrics& metrics);
  // Ends without grace when Drain was not called.
  ~InferenceServer();

  const std::string& address() const;
  std::uint64_t server_epoch() const;

  // In this order: health NOT_SERVING; answers what waits, unrolls without room are dropped; ends
  // the streams; gives the outboxes until `grace` to empty. OK when all was answered and
  // acknowledged; DEADLINE_EXCEEDED otherwise. Call once.
  absl::Status Drain(std::chrono::milliseconds grace);

 private:
  class Parts;
  explicit InferenceServer(std::unique_ptr<Parts> parts);
  const std::unique_ptr<Parts> parts_;
};

}  // namespace shoal::inference
