// SPDX-License-Identifier: Apache-2.0
// The section [inference]: batching of rows, destination of unrolls, and sizes of caches.
#pragma once

#include <cstdint>
#include <string>

#include "inference/core/exploration.h"
#include "platform/runtime/cluster.h"
#include "platform/runtime/config.h"
#include "platform/runtime/status.h"
#include "text/embedding/encoder_source.h"

namespace shoal::inference {

// The group [inference.exploration]; core/exploration.h says what it does.
struct ExplorationOptions {
  double start = 1.0;
  double end = 0.05;
  std::int64_t steps = 10000;
  std::int64_t ladder = 0;
  double ladder_base = 0.4;
  double ladder_alpha = 7.0;

  void Visit(runtime::Visitor& visitor);
  Exploration exploration() const {
    return {.start = start,
            .end = end,
            .steps = static_cast<double>(steps),
            .ladder = static_cast<std::uint64_t>(ladder),
            .ladder_base = ladder_base,
            .ladder_alpha = ladder_alpha};
  }
};

struct InferenceOptions {
  // If empty, this server's entry of cluster.inference.
  std::string listen = "";
  std::string metrics_listen = "";
  // Tells the policies apart where several are trained side by side.
  std::int64_t policy_id = 0;
  std::int64_t max_rows = 256;
  std::int64_t max_delay_us = 200;
  std::int64_t max_queued_rows = 65536;
  std::int64_t max_queued_messages = 4096;
  std::int64_t stream_window = 4096;
  std::int64_t max_message_bytes = std::int64_t{64} << 20;
  // "length" or "episode".
  std::string unroll_cut = "length";
  std::int64_t unroll_length = 16;
  std::int64_t max_episode_rows = 4096;
  // The rows that an unroll has in common with the one before.
  std::int64_t unroll_overlap = 0;
  // How rows are stored in chunks: their number, and the level of compression. With the level -1
  // only unrolls that overlap are, at level 1.
  std::int64_t chunk_length = 0;
  std::int64_t chunk_compression = -1;
  ExplorationOptions exploration;
  // The table of replay that unrolls are inserted into.
  std::string table = "unrolls";
  std::int64_t outbox_items = 256;
  std::int64_t outbox_bytes = std::int64_t{64} << 20;
  std::int64_t content_cache_bytes = std::int64_t{1} << 30;
  std::int64_t waiting_text_bytes = std::int64_t{256} << 20;
  std::int64_t catalog_cache_bytes = std::int64_t{1} << 30;
  std::int64_t similarity_cache_bytes = std::int64_t{256} << 20;
  embedding::EncoderSource encoder;
  embedding::EmbeddingCacheOptions embedding_cache;
  // Where the policy computes, on one device or on several (rl/model/compute_devices.h).
  std::string device = "cpu";
  // In which numbers a convolution computes on a GPU: "float32" or "bfloat16".
  std::string precision = "float32";
  // "auto": on a GPU, recorded forward passes are repeated (rl/model/acting_graphs.h). "off":
  // never. They have not been run on a GPU yet, so they have to be asked for.
  std::string graphs = "off";
  std::int64_t torch_threads = 1;
  // If empty, <run directory>/inference-<index>.
  std::string parameters_folder = "";
  std::int64_t retained_versions = 8;
  std::int64_t lockstep_environments = 0;
  // How many unrolls each of them delivers in a round. From a queue they are those of an update:
  // learner.round_unrolls over the number of environments.
  std::int64_t lockstep_unrolls = 1;
  // 0 stands for a queue, which needs no filling.
  std::int64_t lockstep_fill_unrolls = 0;
  std::int64_t drain_ms = 2000;

  void Visit(runtime::Visitor& visitor);
  // Returns INVALID_ARGUMENT, which names the knobs, if unrolls would overlap by all their rows.
  absl::Status Check() const;
};

// Returns `options.listen`, or the address of server `index` in the cluster. Returns
// INVALID_ARGUMENT, which names both, when neither is given.
absl::StatusOr<std::string> ListenAddress(const InferenceOptions& options,
                                          const runtime::ClusterOptions& cluster,
                                          std::int64_t index);

}  // namespace shoal::inference
