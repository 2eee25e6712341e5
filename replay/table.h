// SPDX-License-Identifier: Apache-2.0
// A table holds items under one name, bounded by number and bytes. One selector, the sampler,
// chooses what is sampled next; another one, the remover, chooses what makes room; and a rate
// limiter says when the table gives and takes.
//
// Insert takes these steps in order. An id that was seen before is acknowledged and ignored. An
// item that is too old already is taken and evicted. There must be room: a full table without a
// remover pushes back, and nothing fresh is ever evicted. The limiter must allow the insert. Every
// content must be known. Then a full table with a remover evicts what that chooses, and the item is
// stored.
//
// Sample gives an item at most `max_times_sampled` times and removes it with the last. Items that
// the current version makes stale are evicted. Where the uses of an item are bounded, what it
// earned from the limiter and can no longer give is taken back when it leaves. While bytes of items
// or of contents keep inserts out, Sample ignores the limiter, or neither side would ever go on.
//
// Not thread-safe.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "platform/runtime/status.h"
#include "replay/content_store.h"
#include "replay/id_window.h"
#include "replay/item.h"
#include "replay/rate_limiter.h"
#include "replay/selectors/selector.h"
#include "replay/selectors/selector_kind.h"

namespace shoal::replay {

struct TableOptions {
  std::string name = "unrolls";
  SelectorKind sampler = SelectorKind::kFifo;
  // Without one a full table pushes back.
  std::optional<SelectorKind> remover = std::nullopt;
  // The table holds so many items and bytes at most.
  std::size_t max_size = 1024;
  std::size_t max_bytes = std::size_t{1} << 30;
  // 0 means that there is no bound.
  std::uint32_t max_times_sampled = 1;
  // Items with an older version than the current one by epoch, or by more than this many steps, are
  // evicted; with 0 none is. A sampling stream may ask for less.
  std::uint32_t max_staleness = 0;
  RateLimiterOptions limiter = {};
  // So many ids are remembered to recognise repeats, besides those of the items that are in.
  std::size_t id_window = 65536;
  // Selectors that draw at random draw by it.
  std::uint64_t seed = 0;
};

// An item that is on its way out.
struct SampledItem {
  std::shared_ptr<Item> item;
  float priority = 0;
  // The probability with which the sampler chose it.
  double probability = 1;
  // How many items were in the table when it was chosen.
  std::size_t table_size = 0;
  // How often it has been given out, this time included.
  std::uint32_t times_sampled = 0;
  // The item left the table with this sample.
  bool last = false;

  // Returns true when nobody else was ever given the item: its payload may then be moved away.
  bool sole_owner() const { return last && times_sampled == 1; }
};

// A table counts these since it was made; `size`, `bytes` and `credit` are those of now.
struct TableStats {
  std::size_t size = 0;
  std::size_t bytes = 0;
  double credit = 0;
  std::uint64_t inserted_total = 0;
  std::uint64_t sampled_total = 0;
  std::uint64_t inserted_steps_total = 0;
  std::uint64_t sampled_steps_total = 0;
  std::uint64_t evicted_stale_total = 0;
  std::uint64_t evicted_for_room_total = 0;
  std::uint64_t duplicates_total = 0;
  std::uint64_t priority_updates_total = 0;
  // How many inserts were put off, by reason.
  std::uint64_t full_items_total = 0;
  std::uint64_t full_bytes_total = 0;
  std::uint64_t inserts_ahead_total = 0;
  // How many samples were put off, by reason.
  std::uint64_t below_min_size_total = 0;
  std::uint64_t samples_ahead_total = 0;
};

class Table {
 public:
  // INVALID_ARGUMENT naming the table and the knob when the options contradict each other.
  // `contents` outlives this.
  static absl::StatusOr<std::unique_ptr<Table>> Create(TableOptions options,
                                                       ContentStore& contents);

  // Takes `item` when OK and leaves it untouched otherwise:
  //   RESOURCE_EXHAUSTED  the table is full, or too far ahead of sampling.
  //   NOT_FOUND           a content or catalog is unknown.
  //   INVALID_ARGUMENT    the item is larger than the whole table.
  absl::Status Insert(std::unique_ptr<Item>& item);

  // Gives the item with that id another priority. NOT_FOUND when it is not here, as it may have
  // left. REQUIRES: `priority` is finite and at least 0.
  absl::Status Update(const UnrollId& id, float priority);

  // Returns the next item, while the limiter allows; its contents stay in use until ReleaseSample.
  std::optional<SampledItem> Sample();
  // To be called when the caller has read the item's contents from the store.
  void ReleaseSample(const SampledItem& sample);

  // Evicts what is stale now; a version older than one given before is ignored. A `max_lag` above 0
  // bounds staleness besides the option. It costs nothing where neither bounds staleness.
  void SetCurrentVersion(const PolicyVersion& current, std::uint32_t max_lag);

  // Evicts the item that the remover chooses, so that its contents may leave. Returns false
  // when there is no remover or no item.
  bool EvictOne();

  // Returns the items that left without a sample since the last call, for the caller to free after
  // its lock.
  std::vector<std::shared_ptr<Item>> TakeEvicted() { return std::exchange(evicted_, {}); }

  // Returns how many items would be taken now, judged by their mean size.
  std::size_t room() const;
  std::size_t size() const { return items_.size(); }
  const TableOptions& options() const { return options_; }
  TableStats stats() const;

 private:
  struct Stored {
    // It is shared with samples on their way, and so never changed.
    std::shared_ptr<Item> item;
    float priority = 0;
    std::uint32_t times_sampled = 0;
  };

  Table(TableOptions options, ContentStore& contents);
  absl::Status CheckFits(const Item& item);
  // Checks that there is room, or a remover that makes it, and that the limiter allows an insert.
  absl::Status CheckRoom(const Item& item);
  void MakeRoom(std::size_t bytes);
  // Returns true when bytes of items or of contents, not the limiter, keep inserts out.
  bool OutOfBytes() const;
  // Items of the mean size that the free bytes hold.
  std::size_t RoomByBytes() const;
  std::uint32_t max_lag() const;
  // Takes the item out of everything but the content store.
  std::shared_ptr<Item> Remove(Handle handle);
  void Evict(Handle handle);

  const TableOptions options_;
  const std::unique_ptr<Selector> sampler_;
  // Null: none.
  const std::unique_ptr<Selector> remover_;
  ContentStore& contents_;
  RateLimiter limiter_;
  IdWindow seen_;
  absl::flat_hash_map<Handle, Stored> items_;
  absl::flat_hash_map<UnrollId, Handle> handles_;
  // Oldest first.
  std::set<std::pair<PolicyVersion, Handle>> by_version_;
  std::vector<std::shared_ptr<Item>> evicted_;
  Handle next_handle_ = 0;
  PolicyVersion current_version_;
  // Of the sampling stream that spoke last.
  std::uint32_t stream_max_lag_ = 0;
  // The last insert found too few bytes.
  bool out_of_bytes_ = false;
  TableStats stats_;
};

}  // namespace shoal::replay
