// SPDX-License-Identifier: Apache-2.0
// Items under one name, bounded by number and bytes, given out by a selector and a rate limiter.
//
// Insert, in order: an id seen before is taken as done; an item that is too old already is taken
// and evicted; then the table must have room and the limiter must allow it; then every content must
// be known. Sample gives an item at most `max_times_sampled` times and removes it with the last.
// Items that the current version makes stale are evicted, and what they earned from the limiter is
// taken back. What is full pushes back: nothing fresh is ever evicted to make room.
//
// Not thread-safe.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "platform/runtime/status.h"
#include "replay/content_store.h"
#include "replay/id_window.h"
#include "replay/item.h"
#include "replay/rate_limiter.h"
#include "replay/selectors/selector.h"

namespace shoal::replay {

struct TableOptions {
  std::string name = "unrolls";
  std::size_t capacity_items = 1024;
  std::size_t capacity_bytes = std::size_t{1} << 30;
  // 0: no bound.
  std::uint32_t max_times_sampled = 1;
  RateLimiterOptions limiter = {};
  // Ids remembered to recognise repeats.
  std::size_t id_window = 65536;
};

struct Sample {
  std::shared_ptr<Item> item;
  double probability = 1;
  // Items before this draw.
  std::size_t table_size = 0;
  // This draw included.
  std::uint32_t times_sampled = 0;
  // This draw removed the item from the table.
  bool last = false;

  // Nobody else was ever given the item: its payload may be moved away.
  bool sole_owner() const { return last && times_sampled == 1; }
};

// Counts since the table was made, but `size`, `bytes` and `credit`.
struct TableStats {
  std::size_t size = 0;
  std::size_t bytes = 0;
  double credit = 0;
  std::uint64_t inserted_total = 0;
  std::uint64_t sampled_total = 0;
  std::uint64_t inserted_steps_total = 0;
  std::uint64_t sampled_steps_total = 0;
  std::uint64_t evicted_stale_total = 0;
  std::uint64_t duplicates_total = 0;
  // Inserts put off, by reason.
  std::uint64_t full_items_total = 0;
  std::uint64_t full_bytes_total = 0;
  std::uint64_t inserts_ahead_total = 0;
  // Draws put off, by reason.
  std::uint64_t below_min_size_total = 0;
  std::uint64_t samples_ahead_total = 0;
};

class Table {
 public:
  // INVALID_ARGUMENT naming the knob when the options contradict each other. `contents` outlives
  // this.
  static absl::StatusOr<std::unique_ptr<Table>> Create(TableOptions options,
                                                       std::unique_ptr<Selector> selector,
                                                       ContentStore& contents);

  // `item` is taken when OK; else it is untouched:
  //   RESOURCE_EXHAUSTED  full, or too far ahead of sampling.
  //   NOT_FOUND           a content or catalog is unknown.
  //   INVALID_ARGUMENT    larger than the whole table.
  absl::Status Insert(std::unique_ptr<Item>& item);

  // The next item, while the limiter allows; its contents stay in use until Collected(sample).
  std::optional<Sample> Draw();
  // The caller has read the item's contents from the store.
  void Collected(const Sample& sample);

  // Evicts what is stale now; a version older than one given before is ignored. Appends what it
  // evicts to `evicted`, so that the caller frees it after its lock.
  void SetCurrentVersion(const PolicyVersion& current, std::uint32_t max_lag,
                         std::vector<std::shared_ptr<Item>>& evicted);

  // Items that would be taken now, judged by their mean size.
  std::size_t room() const;
  std::size_t size() const { return items_.size(); }
  const TableOptions& options() const { return options_; }
  TableStats stats() const;

 private:
  struct Stored {
    std::shared_ptr<Item> item;
    std::uint32_t times_sampled = 0;
  };

  Table(TableOptions options, std::unique_ptr<Selector> selector, ContentStore& contents);
  absl::Status CheckRoom(const Item& item);
  // Bytes, not items or the limiter, keep inserts out: then sampling goes on whatever the limiter
  // says, or nothing ever would.
  bool OutOfBytes() const;
  // Items of the mean size that the free bytes hold.
  std::size_t RoomByBytes() const;
  void Remove(Handle handle, const Stored& stored);

  const TableOptions options_;
  const std::unique_ptr<Selector> selector_;
  ContentStore& contents_;
  RateLimiter limiter_;
  IdWindow seen_;
  absl::flat_hash_map<Handle, Stored> items_;
  Handle next_handle_ = 0;
  PolicyVersion current_version_;
  std::uint32_t max_lag_ = 0;
  // The last insert found too few bytes.
  bool out_of_bytes_ = false;
  TableStats stats_;
};

}  // namespace shoal::replay
