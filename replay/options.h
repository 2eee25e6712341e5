// SPDX-License-Identifier: Apache-2.0
// The section [replay] of the cluster file and its tables [[replay.table]].
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "platform/runtime/config.h"
#include "platform/runtime/status.h"
#include "replay/shard.h"

namespace shoal::replay {

// Which shard this process is, and the seed of the run.
struct ShardPlace {
  std::uint64_t index = 0;
  // The number of shards. 0 means 1.
  std::size_t shards = 1;
  std::uint64_t seed = 0;
};

// One [[replay.table]].
struct TableKnobs {
  std::string name = "unrolls";
  std::string sampler = "fifo";
  std::string remover = "none";
  double priority_exponent = 0.6;
  std::int64_t max_size = 1024;
  std::int64_t max_bytes = std::int64_t{1} << 30;
  std::int64_t memory_bytes = 0;
  std::int64_t max_times_sampled = 1;
  std::int64_t max_staleness = 0;
  double max_age_seconds = 0;
  std::int64_t min_size = 1;
  double samples_per_insert = 0;
  double error_buffer = 0;
  std::int64_t id_window = 65536;
  std::vector<std::string> signature = {};
  std::string durability = "none";
  std::int64_t batch_window_ms = 100;

  void Visit(runtime::Visitor& visitor);

  // Returns one shard's part of these options. Returns INVALID_ARGUMENT, which names the table and
  // the knob, for an unknown selector or a signature that is none.
  absl::StatusOr<TableOptions> ForShard(const ShardPlace& place) const;
};

struct Options {
  std::string listen = "";
  std::string metrics_listen = "";
  std::int64_t content_capacity_bytes = std::int64_t{2} << 30;
  std::int64_t content_memory_bytes = 0;
  std::int64_t unused_content_bytes = std::int64_t{256} << 20;
  std::int64_t max_item_bytes = std::int64_t{16} << 20;
  std::int64_t insert_credit = 32;
  std::int64_t drain_ms = 2000;
  std::int64_t read_threads = 8;
  std::string directory = "";
  std::string restore = "";
  std::vector<TableKnobs> tables = {{}};

  void Visit(runtime::Visitor& visitor);

  // Returns one shard's part of these options: limits for all shards together are divided by their
  // number. Fails as TableKnobs::ForShard does, and with INVALID_ARGUMENT if content_memory_bytes
  // is less than a few of the largest chunks or more than content_capacity_bytes.
  absl::StatusOr<ShardOptions> ForShard(const ShardPlace& place) const;
  // Returns where shard `index` keeps what outlives it and what it has no memory for, or an empty
  // string if nothing needs a disk. Returns INVALID_ARGUMENT, which names what does, if there is no
  // directory for it.
  absl::StatusOr<std::string> ShardDirectory(std::int64_t index) const;
};

// Returns `options.listen`, or the address of shard `index` in `addresses`, those of the cluster.
// Returns INVALID_ARGUMENT, which names both, when neither is given.
absl::StatusOr<std::string> ListenAddress(const Options& options,
                                          const std::vector<std::string>& addresses,
                                          std::int64_t index);

}  // namespace shoal::replay
