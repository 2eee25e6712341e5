// SPDX-License-Identifier: Apache-2.0
// Exports the counts of a shard as Prometheus metrics.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "platform/runtime/metrics.h"
#include "replay/shard.h"

namespace shoal::replay {

// Not thread-safe.
class ShardMetrics {
 public:
  // `metrics` must outlive this object.
  ShardMetrics(const ShardOptions& options, runtime::Metrics& metrics);

  void Update(const ShardStats& stats);
  // The number of streams that wait, by table.
  void UpdateWaits(const std::map<std::string, std::uint32_t>& inserters,
                   const std::map<std::string, std::uint32_t>& samplers);

 private:
  struct Count {
    prometheus::Counter* counter;
    std::uint64_t TableStats::*field;
  };
  struct OneTable {
    prometheus::Gauge* items;
    prometheus::Gauge* bytes;
    prometheus::Gauge* memory_bytes;
    prometheus::Gauge* disk_bytes;
    prometheus::Counter* read_wait_seconds;
    prometheus::Counter* sampled_age_seconds;
    prometheus::Gauge* credit;
    prometheus::Gauge* lag;
    prometheus::Gauge* waiting_inserters;
    prometheus::Gauge* waiting_samplers;
    std::vector<Count> counts;
  };

  std::vector<std::string> names_;
  std::vector<OneTable> tables_;
  std::vector<TableStats> last_;
  prometheus::Gauge& contents_;
  prometheus::Gauge& content_bytes_;
  prometheus::Gauge& content_disk_bytes_;
  prometheus::Gauge& chunks_;
  prometheus::Gauge& chunk_bytes_;
  JournalStats last_journal_;
  prometheus::Counter& journal_bytes_;
  prometheus::Counter& journal_syncs_;
  prometheus::Counter& journal_sync_seconds_;
  prometheus::Gauge& journal_waiting_;
  prometheus::Gauge& journal_failing_;
  prometheus::Gauge& journal_lost_;
};

}  // namespace shoal::replay
