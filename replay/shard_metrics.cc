// SPDX-License-Identifier: Apache-2.0
#include "replay/shard_metrics.h"

namespace shoal::replay {

ShardMetrics::ShardMetrics(const ShardOptions& options, runtime::Metrics& metrics)
    : last_(options.tables.size()),
      contents_(metrics.Gauge("shoal_replay_contents",
                              "Embeddings, catalogs and overlays that the shard holds")),
      content_bytes_(
          metrics.Gauge("shoal_replay_content_bytes", "Bytes of contents that the shard holds")) {
  for (const TableOptions& table : options.tables) {
    const auto counter = [&](const char* name, const char* help, const char* reason,
                             std::uint64_t TableStats::*field) -> Count {
      runtime::Labels labels = {{"table", table.name}};
      if (*reason != '\0') labels.emplace("reason", reason);
      return {&metrics.Counter(name, help, labels), field};
    };
    const runtime::Labels labels = {{"table", table.name}};
    constexpr char kInsertBlocked[] = "shoal_replay_insert_blocked_total";
    constexpr char kInsertHelp[] = "Inserts put off, by reason";
    constexpr char kSampleBlocked[] = "shoal_replay_sample_blocked_total";
    constexpr char kSampleHelp[] = "Draws put off, by reason";
    tables_.push_back(
        {.items = &metrics.Gauge("shoal_replay_items", "Items in the table", labels),
         .bytes = &metrics.Gauge("shoal_replay_item_bytes", "Bytes of items in the table", labels),
         .credit =
             &metrics.Gauge("shoal_replay_credit_steps",
                            "Sampled steps that inserts have earned and are not used", labels),
         .lag = &metrics.Gauge("shoal_replay_oldest_lag_steps",
                               "Steps of the policy that the oldest item is behind", labels),
         .counts = {
             counter("shoal_replay_inserted_total", "Items stored", "",
                     &TableStats::inserted_total),
             counter("shoal_replay_sampled_total", "Items given out", "",
                     &TableStats::sampled_total),
             counter("shoal_replay_inserted_steps_total", "Steps stored", "",
                     &TableStats::inserted_steps_total),
             counter("shoal_replay_sampled_steps_total", "Steps given out", "",
                     &TableStats::sampled_steps_total),
             counter("shoal_replay_evicted_total", "Items evicted", "stale",
                     &TableStats::evicted_stale_total),
             counter("shoal_replay_evicted_total", "Items evicted", "room",
                     &TableStats::evicted_for_room_total),
             counter("shoal_replay_evicted_total", "Items evicted", "age",
                     &TableStats::evicted_old_total),
             counter("shoal_replay_evicted_total", "Items evicted", "use",
                     &TableStats::evicted_used_total),
             counter("shoal_replay_sampled_lag_steps_total",
                     "Steps of the policy that items given out were behind, summed", "",
                     &TableStats::sampled_lag_total),
             counter("shoal_replay_priority_updates_total", "Priorities changed", "",
                     &TableStats::priority_updates_total),
             counter("shoal_replay_refused_signatures_total",
                     "Signatures of items that contradict the table's", "",
                     &TableStats::refused_signatures_total),
             counter("shoal_replay_duplicates_total", "Items acknowledged and ignored", "",
                     &TableStats::duplicates_total),
             counter(kInsertBlocked, kInsertHelp, "max_size", &TableStats::full_items_total),
             counter(kInsertBlocked, kInsertHelp, "max_bytes", &TableStats::full_bytes_total),
             counter(kInsertBlocked, kInsertHelp, "samples_per_insert",
                     &TableStats::inserts_ahead_total),
             counter(kSampleBlocked, kSampleHelp, "min_size", &TableStats::below_min_size_total),
             counter(kSampleBlocked, kSampleHelp, "samples_per_insert",
                     &TableStats::samples_ahead_total)}});
  }
}

void ShardMetrics::Update(const ShardStats& stats) {
  for (std::size_t i = 0; i < tables_.size(); ++i) {
    const TableStats& now = stats.tables[i];
    tables_[i].items->Set(static_cast<double>(now.size));
    tables_[i].bytes->Set(static_cast<double>(now.bytes));
    tables_[i].credit->Set(now.credit);
    tables_[i].lag->Set(static_cast<double>(now.oldest_lag));
    for (const Count& count : tables_[i].counts) {
      count.counter->Increment(static_cast<double>(now.*count.field - last_[i].*count.field));
    }
    last_[i] = now;
  }
  contents_.Set(static_cast<double>(stats.content_count));
  content_bytes_.Set(static_cast<double>(stats.content_bytes));
}

}  // namespace shoal::replay
