// SPDX-License-Identifier: Apache-2.0
// Section [learner]: rounds, checkpoints, demonstrations, and what its ranks check of each other.
#pragma once

#include <cstdint>
#include <string>

#include "platform/runtime/config.h"
#include "rl/collectives/gradient_reducer.h"
#include "text/embedding/encoder_source.h"

namespace shoal::learner {

struct LearnerOptions {
  // Rank 0's parameters and health services; empty: cluster.learner, or a free port of 127.0.0.1.
  std::string listen = "";
  // Rank 0's Prometheus endpoint; empty: none.
  std::string metrics_listen = "";
  // Which policy is trained, where several are side by side; unrolls of another are dropped.
  std::int64_t policy_id = 0;
  // Replay table to draw from.
  std::string table = "unrolls";
  // N: unrolls in a round, all ranks together.
  std::int64_t round_unrolls = 64;
  // A round that has not got them in this time goes on with at least half of them.
  std::int64_t round_timeout_ms = 5000;
  // Unrolls that an older version acted in are dropped. 0: any age within the epoch.
  std::int64_t max_lag = 4;
  // A checkpoint is due after so many updates, or so much time, whichever comes first.
  std::int64_t checkpoint_every_updates = 20;
  double checkpoint_every_seconds = 2;
  // Newest parameter files kept, besides the run's initial one.
  std::int64_t keep_parameters = 3;
  // The process ends by itself after this many updates, earlier runs' included. 0: never.
  std::int64_t updates = 0;
  // Threads that torch uses inside one operation.
  std::int64_t torch_threads = 1;
  // File of demonstrations (docs/demonstrations.md); empty: none.
  std::string demonstrations = "";
  // Of them in one cloning or update, all ranks together.
  std::int64_t demonstration_unrolls = 64;
  // Clonings before the first publication.
  std::int64_t demonstration_updates = 300;
  double demonstration_learning_rate = 1e-3;
  // Weight of the demonstrations' cross-entropy in the first update after that; it falls to 0 in a
  // straight line.
  double demonstration_coefficient = 0;
  std::int64_t demonstration_anneal_updates = 100;
  // The encoder of inference, for the demonstrations' texts; not read without them.
  embedding::EncoderSource encoder;
  embedding::EmbeddingCacheOptions embedding_cache;
  // Ids of trained unrolls that are remembered.
  std::int64_t unroll_id_window = std::int64_t{1} << 20;
  // Memory for embeddings, for catalogs and overlays, and for tables of candidates, a third each.
  std::int64_t content_capacity_bytes = std::int64_t{3} << 30;
  // What carries gradients between ranks: "socket", or "nccl" with one GPU a rank.
  std::string reduction = "socket";
  // Time in which all ranks have to start.
  double join_timeout_seconds = 120;
  // Time by which one rank may be later than another in a reduction before the group gives it up.
  double reduction_timeout_seconds = 300;
  // After every update all ranks compare the digests of their parameters, and stop when they
  // differ.
  bool verify_ranks = false;
  // Every so many updates the digest of the parameters is logged. 0: at the end alone.
  std::int64_t digest_every_updates = 0;

  void Visit(runtime::Visitor& visitor);
  // What these knobs say about the ranks' group.
  collectives::GroupOptions group() const;
};

}  // namespace shoal::learner
