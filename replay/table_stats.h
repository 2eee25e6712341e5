// SPDX-License-Identifier: Apache-2.0
// The stats of a table count what has happened to its items and say what it holds now.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace shoal::replay {

// Counts since the table was made, except that the first six are current values.
struct TableStats {
  std::size_t size = 0;
  // Those in memory and the payloads on disk together.
  std::size_t bytes = 0;
  std::size_t memory_bytes = 0;
  // Of payloads that are not in memory.
  std::size_t disk_bytes = 0;
  double credit = 0;
  // How many steps the oldest item is behind the current version, within its epoch.
  std::uint64_t oldest_lag = 0;
  std::uint64_t inserted_total = 0;
  std::uint64_t sampled_total = 0;
  std::uint64_t inserted_steps_total = 0;
  std::uint64_t inserted_uncounted_steps_total = 0;
  std::uint64_t sampled_steps_total = 0;
  // The sum, over all samples, of the steps that the item was behind the current version.
  std::uint64_t sampled_lag_total = 0;
  // The sum, over all samples, of the microseconds for which the item had been in the table.
  std::uint64_t sampled_age_us_total = 0;
  std::uint64_t evicted_stale_total = 0;
  std::uint64_t evicted_for_room_total = 0;
  std::uint64_t evicted_old_total = 0;
  // Items that a smaller max_times_sampled left no further samples.
  std::uint64_t evicted_used_total = 0;
  // Those that Exclude removed.
  std::uint64_t evicted_excluded_total = 0;
  // Items that were sampled and whose payload could not be read from disk.
  std::uint64_t lost_total = 0;
  // Payloads that were read from disk, and the time for which batches waited for theirs.
  std::uint64_t reads_total = 0;
  std::uint64_t read_wait_us_total = 0;
  std::uint64_t duplicates_total = 0;
  std::uint64_t priority_updates_total = 0;
  // Signatures that the table refused.
  std::uint64_t refused_signatures_total = 0;
  // The number of inserts that had to wait, by reason.
  std::uint64_t full_items_total = 0;
  std::uint64_t full_bytes_total = 0;
  std::uint64_t full_memory_total = 0;
  std::uint64_t inserts_ahead_total = 0;
  // The number of samples that had to wait, by reason.
  std::uint64_t below_min_size_total = 0;
  std::uint64_t samples_ahead_total = 0;
};

// The counts of TableStats that only grow, by the names under which they are stored.
inline constexpr std::pair<const char*, std::uint64_t TableStats::*> kTableCounts[] = {
    {"inserted", &TableStats::inserted_total},
    {"sampled", &TableStats::sampled_total},
    {"inserted_steps", &TableStats::inserted_steps_total},
    {"inserted_uncounted_steps", &TableStats::inserted_uncounted_steps_total},
    {"sampled_steps", &TableStats::sampled_steps_total},
    {"evicted_stale", &TableStats::evicted_stale_total},
    {"evicted_for_room", &TableStats::evicted_for_room_total},
    {"evicted_old", &TableStats::evicted_old_total},
    {"evicted_used", &TableStats::evicted_used_total},
    {"evicted_excluded", &TableStats::evicted_excluded_total},
    {"lost", &TableStats::lost_total},
    {"reads", &TableStats::reads_total},
    {"read_wait_us", &TableStats::read_wait_us_total},
    {"sampled_lag", &TableStats::sampled_lag_total},
    {"sampled_age_us", &TableStats::sampled_age_us_total},
    {"refused_signatures", &TableStats::refused_signatures_total},
    {"duplicates", &TableStats::duplicates_total},
    {"priority_updates", &TableStats::priority_updates_total},
    {"full_items", &TableStats::full_items_total},
    {"full_bytes", &TableStats::full_bytes_total},
    {"full_memory", &TableStats::full_memory_total},
    {"inserts_ahead", &TableStats::inserts_ahead_total},
    {"below_min_size", &TableStats::below_min_size_total},
    {"samples_ahead", &TableStats::samples_ahead_total},
};

}  // namespace shoal::replay
