// SPDX-License-Identifier: Apache-2.0
#include "replay/shard_metrics.h"

namespace shoal::replay {

ShardMetrics::ShardMetrics(const ShardOptions& options, runtime::Metrics& metrics)
    : last_(options.tables.size()),
      contents_(metrics.Gauge("shoal_replay_contents",
                              "Embeddings, catalogs, overlays and chunks that the shard holds")),
      content_bytes_(
          metrics.Gauge("shoal_replay_content_bytes", "Bytes of contents that the shard holds")),
      content_disk_bytes_(metrics.Gauge("shoal_replay_content_disk_bytes",
                                        "Bytes of chunks that are on disk alone")),
      chunks_(metrics.Gauge("shoal_replay_chunks", "Chunks that the shard holds")),
      chunk_bytes_(
          metrics.Gauge("shoal_replay_chunk_bytes", "Bytes of chunks that the shard holds")),
      journal_bytes_(metrics.Counter("shoal_replay_journal_bytes_total",
                                     "Bytes that the journal has written")),
      journal_syncs_(metrics.Counter("shoal_replay_journal_syncs_total",
                                     "Batches that the journal has written and synced")),
      journal_sync_seconds_(metrics.Counter("shoal_replay_journal_sync_seconds_total",
                                            "Time that writing and syncing took")),
      journal_waiting_(
          metrics.Gauge("shoal_replay_journal_waiting", "Changes that are not on disk yet")),
      journal_failing_(
          metrics.Gauge("shoal_replay_journal_failing", "1 while the journal cannot write")),
      journal_lost_(metrics.Gauge("shoal_replay_journal_lost_records",
                                  "Records that were found damaged at start")) {
  for (const TableOptions& table : options.tables) {
    names_.push_back(table.name);
    const auto counter = [&](const char* name, const char* help, const char* reason,
                             std::uint64_t TableStats::*field) -> Count {
      runtime::Labels labels = {{"table", table.name}};
      if (*reason != '\0') labels.emplace("reason", reason);
      return {&metrics.Counter(name, help, labels), field};
    };
    const auto gauge = [&](const char* name, const char* help) -> prometheus::Gauge& {
      return metrics.Gauge({.name = name, .help = help, .draw = runtime::Draw::kLabels},
                           {{"table", table.name}});
    };
    constexpr char kInsertBlocked[] = "shoal_replay_insert_blocked_total";
    constexpr char kInsertHelp[] = "Inserts put off, by reason";
    constexpr char kSampleBlocked[] = "shoal_replay_sample_blocked_total";
    constexpr char kSampleHelp[] = "Draws put off, by reason";
    tables_.push_back(
        {.items = &gauge("shoal_replay_items", "Items in the table"),
         .bytes = &gauge("shoal_replay_item_bytes", "Bytes of items in the table"),
         .memory_bytes = &gauge("shoal_replay_memory_bytes", "Bytes of items that are in memory"),
         .disk_bytes =
             &gauge("shoal_replay_disk_bytes", "Bytes of payloads that are on disk alone"),
         .read_wait_seconds = &metrics.Counter(
             {.name = "shoal_replay_read_wait_seconds_total",
              .help = "Time for which batches waited for payloads and chunks to be read from disk",
              .title = "mean wait for a payload or chunk from disk",
              .over = "shoal_replay_reads_total"},
             {{"table", table.name}}),
         .sampled_age_seconds =
             &metrics.Counter({.name = "shoal_replay_sampled_age_seconds_total",
                               .help = "Time for which items given out had been in the table",
                               .title = "mean age of items given out",
                               .over = "shoal_replay_sampled_total"},
                              {{"table", table.name}}),
         .credit = &gauge("shoal_replay_credit_steps",
                          "Sampled steps that inserts have earned and are not used"),
         .lag = &gauge("shoal_replay_oldest_lag_steps",
                       "Steps of the policy that the oldest item is behind"),
         .waiting_inserters =
             &gauge("shoal_replay_waiting_inserters", "Inserting streams without credit"),
         .waiting_samplers = &gauge("shoal_replay_waiting_samplers",
                                    "Sampling streams that were given less than their credit"),
         .counts = {
             counter("shoal_replay_inserted_total", "Items stored", "",
                     &TableStats::inserted_total),
             counter("shoal_replay_sampled_total", "Items given out", "",
                     &TableStats::sampled_total),
             counter("shoal_replay_inserted_steps_total", "Steps stored", "",
                     &TableStats::inserted_steps_total),
             counter("shoal_replay_inserted_uncounted_steps_total",
                     "Steps stored that are no further steps of an environment", "",
                     &TableStats::inserted_uncounted_steps_total),
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
             counter("shoal_replay_evicted_total", "Items evicted", "excluded",
                     &TableStats::evicted_excluded_total),
             {&metrics.Counter({.name = "shoal_replay_sampled_lag_steps_total",
                                .help = "Steps of the policy that items given out were behind",
                                .title = "mean lag of items given out",
                                .over = "shoal_replay_sampled_total"},
                               {{"table", table.name}}),
              &TableStats::sampled_lag_total},
             counter("shoal_replay_reads_total", "Payloads and chunks read from disk", "",
                     &TableStats::reads_total),
             counter("shoal_replay_lost_total",
                     "Sampled items whose payloads could not be read from disk", "",
                     &TableStats::lost_total),
             counter("shoal_replay_priority_updates_total", "Priorities changed", "",
                     &TableStats::priority_updates_total),
             counter("shoal_replay_refused_signatures_total",
                     "Signatures of items that contradict the table's", "",
                     &TableStats::refused_signatures_total),
             counter("shoal_replay_duplicates_total", "Items acknowledged and ignored", "",
                     &TableStats::duplicates_total),
             counter(kInsertBlocked, kInsertHelp, "max_size", &TableStats::full_items_total),
             counter(kInsertBlocked, kInsertHelp, "max_bytes", &TableStats::full_bytes_total),
             counter(kInsertBlocked, kInsertHelp, "memory_bytes", &TableStats::full_memory_total),
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
    tables_[i].memory_bytes->Set(static_cast<double>(now.memory_bytes));
    tables_[i].disk_bytes->Set(static_cast<double>(now.disk_bytes));
    tables_[i].read_wait_seconds->Increment(
        1e-6 * static_cast<double>(now.read_wait_us_total - last_[i].read_wait_us_total));
    tables_[i].sampled_age_seconds->Increment(
        1e-6 * static_cast<double>(now.sampled_age_us_total - last_[i].sampled_age_us_total));
    tables_[i].credit->Set(now.credit);
    tables_[i].lag->Set(static_cast<double>(now.oldest_lag));
    for (const Count& count : tables_[i].counts) {
      count.counter->Increment(static_cast<double>(now.*count.field - last_[i].*count.field));
    }
    last_[i] = now;
  }
  contents_.Set(static_cast<double>(stats.content_count));
  content_bytes_.Set(static_cast<double>(stats.content_bytes));
  content_disk_bytes_.Set(static_cast<double>(stats.content_disk_bytes));
  chunks_.Set(static_cast<double>(stats.chunk_count));
  chunk_bytes_.Set(static_cast<double>(stats.chunk_bytes));
  const JournalStats& journal = stats.journal;
  journal_bytes_.Increment(
      static_cast<double>(journal.written_bytes_total - last_journal_.written_bytes_total));
  journal_syncs_.Increment(static_cast<double>(journal.syncs_total - last_journal_.syncs_total));
  journal_sync_seconds_.Increment(journal.sync_seconds_total - last_journal_.sync_seconds_total);
  journal_waiting_.Set(static_cast<double>(journal.waiting_changes));
  journal_failing_.Set(journal.failing ? 1 : 0);
  journal_lost_.Set(static_cast<double>(journal.damaged_total));
  last_journal_ = journal;
}

void ShardMetrics::UpdateWaits(const std::map<std::string, std::uint32_t>& inserters,
                               const std::map<std::string, std::uint32_t>& samplers) {
  const auto count = [](const auto& waiting, const std::string& table) {
    const auto found = waiting.find(table);
    return found == waiting.end() ? 0.0 : static_cast<double>(found->second);
  };
  for (std::size_t i = 0; i < tables_.size(); ++i) {
    tables_[i].waiting_inserters->Set(count(inserters, names_[i]));
    tables_[i].waiting_samplers->Set(count(samplers, names_[i]));
  }
}

}  // namespace shoal::replay
