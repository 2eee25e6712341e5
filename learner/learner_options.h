// SPDX-License-Identifier: Apache-2.0
// The section [learner]: rounds, checkpoints, demonstrations, and what the ranks check of each
// other.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "learner/circuit_breaker.h"
#include "learner/cloning/cloning_options.h"
#include "platform/runtime/config.h"
#include "platform/runtime/status.h"
#include "rl/collectives/gradient_compression.h"
#include "rl/collectives/gradient_reducer.h"
#include "rl/collectives/rank_share.h"

namespace shoal::learner {

struct LearnerOptions {
  // The address of rank 0's parameter and health services. If empty, cluster.learner or a free port
  // of 127.0.0.1.
  std::string listen = "";
  // The address of rank 0's Prometheus endpoint. If empty, there is none.
  std::string metrics_listen = "";
  // The address of a health service of the first rank of each node, which says whether its start is
  // over. If empty, there is none.
  std::string health_listen = "";
  // The policy that is trained, where several are trained side by side. Unrolls of others are
  // dropped.
  std::int64_t policy_id = 0;
  // The table of replay to sample from.
  std::string table = "unrolls";
  // N, the number of unrolls in a round on all ranks together.
  std::int64_t round_unrolls = 64;
  // After this time a round goes on with at least half of its unrolls.
  std::int64_t round_timeout_ms = 5000;
  // Unrolls in which a version acted that lags by more steps are dropped. 0 allows any lag within
  // the epoch.
  std::int64_t max_lag = 4;
  // The first rows of an unroll that carry no weight, unless an episode begins in them that the
  // unroll before does not have. Equal to inference.unroll_overlap, every step is learned from
  // once.
  std::int64_t burn_in = 0;
  // Memory for the chunks of unrolls that overlap.
  std::int64_t chunk_cache_bytes = std::int64_t{256} << 20;
  // Parameters are published after every this many updates, and when training ends.
  std::int64_t publish_every_updates = 1;
  // The form in which they are published: "float32"; "float16", rounded
  // (rl/parameters/half_precision.h); or either as differences from what a subscriber holds
  // (rl/parameters/difference.h), "delta" and "float16_delta".
  std::string publication_encoding = "float32";
  // A checkpoint is due after this many updates or this time, whichever comes first.
  std::int64_t checkpoint_every_updates = 20;
  double checkpoint_every_seconds = 2;
  // How many of the newest checkpoints are kept.
  std::int64_t keep_checkpoints = 3;
  // How many of those with the highest returns are kept besides, however old they are. With any,
  // evaluations have checkpoints saved, too. A rollback reaches no further back than both.
  std::int64_t keep_best_checkpoints = 0;
  // How many of the newest parameter files are kept, besides the run's initial one.
  std::int64_t keep_parameters = 3;
  // Memory for recent parameters, besides the newest, that are served without reading a file.
  std::int64_t recent_parameters_bytes = std::int64_t{256} << 20;
  // The process ends after this many updates, including those of earlier runs. 0 means never.
  std::int64_t updates = 0;
  // The folder of a run from whose newest checkpoint a run without one of its own starts, or that
  // of a checkpoint: with its parameters, what its optimiser remembers, and its counts of updates
  // and steps. Empty for none.
  std::string start_from = "";
  // Whether a checkpoint of another [policy] keeps what fits; otherwise it is refused
  // (rl/model/parameter_fit.h).
  bool fit_parameters = false;
  // Where updates compute: "auto", "cpu", "cuda" or "cuda:<n>" (rl/model/compute_device.h).
  std::string device = "cpu";
  // In which numbers the layers compute: "float32" or "bfloat16".
  std::string precision = "float32";
  // The number of threads that torch uses inside one operation.
  std::int64_t torch_threads = 1;
  CloningOptions cloning;
  // The number of ids of trained unrolls that are remembered.
  std::int64_t unroll_id_window = std::int64_t{1} << 20;
  // Memory for embeddings, for catalogs and overlays, and for tables of candidates, a third each.
  std::int64_t content_capacity_bytes = std::int64_t{3} << 30;
  // What carries gradients between ranks: "socket", or "nccl" with one GPU for each rank.
  std::string reduction = "socket";
  // Over sockets, reductions of at least so many bytes go around a ring of the ranks, smaller ones
  // over rank 0 (rl/collectives/socket_reducer.h). 0 makes no ring.
  std::int64_t ring_min_bytes = std::int64_t{1} << 18;
  // In which numbers gradients travel around the ring: "none" for float32, or "bfloat16" with what
  // rounding takes added to the next ones (rl/collectives/rounded_sum.h).
  std::string gradient_compression = "none";
  // "synchronous": all ranks make each update together, of the sum of their gradients.
  // "asynchronous": rank 0 makes an update of each rank's gradient as it comes
  // (asynchronous/gradient_worker.h).
  std::string gradients = "synchronous";
  // Asynchronous gradients of parameters that more updates have changed since are dropped. 0 allows
  // any number within the epoch.
  std::int64_t max_gradient_staleness = 16;
  // The time within which all ranks must have started.
  double join_timeout_seconds = 120;
  // How much later than the others a rank may come to a reduction before the group gives it up. A
  // group without any reduction for twice this time is given up by its supervisor.
  double reduction_timeout_seconds = 300;
  // If true, all ranks, which are synchronous, compare the digests of their parameters after every
  // update and stop if they differ.
  bool verify_ranks = false;
  // The digest of the parameters is logged every this many updates. 0 logs it at the end only.
  std::int64_t digest_every_updates = 0;
  // The section [learner.breaker].
  CircuitBreakerOptions breaker;

  void Visit(runtime::Visitor& visitor);
  bool compresses_gradients() const { return compression().compresses(); }
  bool asynchronous() const { return gradients == "asynchronous"; }
  bool publishes_halves() const { return publication_encoding.starts_with("float16"); }
  bool publishes_differences() const { return publication_encoding.ends_with("delta"); }
  // For collectives::CheckCompression.
  collectives::CompressionRequest compression() const;
  // Returns what these knobs say about the group of ranks.
  collectives::GroupOptions group() const;
};

// Returns how many of a round's unrolls a rank takes. Together the ranks take all of them, so that
// a round is the same for any number of ranks: where they do not divide evenly, the first ranks
// take one more. A rank takes one even where there are fewer than ranks.
inline std::int64_t UnrollsOfRank(std::int64_t round_unrolls, std::int64_t rank,
                                  std::int64_t ranks) {
  const auto share = collectives::ShareOf(static_cast<std::size_t>(round_unrolls), rank, ranks);
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(share.size));
}

}  // namespace shoal::learner
