// SPDX-License-Identifier: Apache-2.0
// How many processes a cluster has, and how rows, unrolls and updates move among them: the part of
// a cluster's effective configuration on which its speed depends.
//
// A value.
#pragma once

#include <cstdint>

#include "cli/cluster/effective_config.h"
#include "cli/cluster/inference_devices.h"
#include "platform/runtime/cluster.h"
#include "platform/runtime/status.h"

namespace shoal::cli {

struct SimulatedCluster {
  std::int64_t actors = 1;
  std::int64_t inference_servers = 1;
  InferenceDevices inference_devices = {};
  std::int64_t replay_shards = 1;
  std::int64_t learner_ranks = 1;
  // Whether actors drive services of a mock server.
  bool has_services = false;
  // Of one actor.
  std::int64_t environments = 1;
  std::int64_t actor_threads = 1;
  // Environments that send their rows together.
  std::int64_t rows_per_message = 1;
  std::int64_t max_rows = 1;
  double max_delay_seconds = 0;
  std::int64_t unroll_length = 1;
  // Items of one inference server that may wait for replay while its environments go on.
  std::int64_t outbox_items = 1;
  // Of one shard. A table whose items are sampled once is a queue; another one keeps its items.
  std::int64_t table_items = 1;
  bool queue = true;
  // Of a table that is no queue: uses of an item in the mean, and how far off they may be, in
  // steps.
  double samples_per_insert = 1;
  double error_buffer_steps = 0;
  // Of an update, all ranks together.
  std::int64_t round_unrolls = 1;
  // 0: items of any age are trained on.
  std::int64_t max_lag = 0;
  std::int64_t learner_threads = 1;
  // How often the ranks reduce their gradients in an update.
  std::int64_t reductions = 1;
  std::int64_t publish_every_updates = 1;

  // `gpus` is what an inference server finds where its device is "cuda:*". Returns INVALID_ARGUMENT
  // where the configuration lacks a number that is needed.
  static absl::StatusOr<SimulatedCluster> From(const EffectiveConfig& config,
                                               const runtime::ClusterOptions& cluster,
                                               std::int64_t gpus);
};

}  // namespace shoal::cli
