// SPDX-License-Identifier: Apache-2.0
// Items under one name, bounded by number and bytes. One selector chooses what is sampled next,
// another what makes room, and a rate limiter says when the table gives and takes.
//
// Insert, in order: an id that was seen before is acknowledged and ignored; an item that is too old
// already is taken and evicted; then the limiter must allow it; then every content must be known;
// then there must be room. A full table without a remover pushes back, and nothing fresh is ever
// evicted; one with a remover evicts what that chooses. Sample gives an item at most
// `max_times_sampled` times and removes it with the last. Items that the current version makes
// stale are evicted. Where the uses of an item are bounded, what it earned from the limiter and can
// no longer give is taken back when it leaves.
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
  // Nothing: a full table pushes back.
  std::optional<SelectorKind> remover = std::nullopt;
  // Items and bytes that the table holds.
  std::size_t max_size = 1024;
  std::size_t max_bytes = std::size_t{1} << 30;
  // 0: no bound.
  std::uint32_t max_times_sampled = 1;
  // Items with an older version than the current one by epoch, or by more than this many steps, are
  // evicted; 0: none is. A sampling stream may ask for less.
  std::uint32_t max_staleness = 0;
  RateLimiterOptions limiter = {};
  // Ids remembered to recognise repeats, besides those of the items that are in.
  std::size_t id_window = 65536;
  // Of the selectors' draws.
  std::uint64_t seed = 0;
};

// An item on its way out.
struct SampledItem {
  std::shared_ptr<Item> item;
  float priority = 0;
  // With which the sampler chose it.
  double probability = 1;
  // Items in the table when it was chosen.
  std::size_t table_size = 0;
  // How often it has been given out, this time included.
  std::uint32_t times_sampled = 0;
  // The item left the table with this sample.
  bool last = false;

  // Nobody else was ever given the item: its payload may be moved away.
  bool sole_owner() const { return last && times_sampled == 1; }
};

// What a table counted since it was made; `size`, `bytes` and `credit` are those of now.
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
  // Inserts put off, by reason.
  std::uint64_t full_items_total = 0;
  std::uint64_t full_bytes_total = 0;
  std::uint64_t inserts_ahead_total = 0;
  // Samples put off, by reason.
  std::uint64_t below_min_size_total = 0;
  std::uint64_t samples_ahead_total = 0;
};

class Table {
 public:
  // INVALID_ARGUMENT naming the table and the knob when the options contradict each other.
  // `contents` outlives this.
  static absl::StatusOr<std::unique_ptr<Table>> Create(TableOptions options,
                                                       ContentStore& contents);

  // `item` is taken when OK; else it is untouched:
  //   RESOURCE_EXHAUSTED  full, or too far ahead of sampling.
  //   NOT_FOUND           a content or catalog is unknown.
  //   INVALID_ARGUMENT    larger than the whole table.
  absl::Status Insert(std::unique_ptr<Item>& item);

  // Gives the item with that id another priority. NOT_FOUND when it is not here, as it may have
  // left. REQUIRES: `priority` is finite and at least 0.
  absl::Status Update(const UnrollId& id, float priority);

  // The next item, while the limiter allows; its contents stay in use until ReleaseSample.
  std::optional<SampledItem> Sample();
  // The caller has read the item's contents from the store.
  void ReleaseSample(const SampledItem& sample);

  // Evicts what is stale now; a version older than one given before is ignored. `max_lag` bounds
  // staleness besides the option; 0: it does not. Costs nothing where neither bounds it.
  void SetCurrentVersion(const PolicyVersion& current, std::uint32_t max_lag);

  // Evicts the item that the remover chooses, so that its contents may leave. False without a
  // remover or an item.
  bool EvictOne();

  // The items that left without a sample since the last call, for the caller to free after its
  // lock.
  std::vector<std::shared_ptr<Item>> TakeEvicted() { return std::exchange(evicted_, {}); }

  // Items that would be taken now, judged by their mean size.
  std::size_t room() const;
  std::size_t size() const { return items_.size(); }
  const TableOptions& options() const { return options_; }
  TableStats stats() const;

 private:
  struct Stored {
    // Shared with samples on their way, and so never changed.
    std::shared_ptr<Item> item;
    float priority = 0;
    std::uint32_t times_sampled = 0;
  };

  Table(TableOptions options, ContentStore& contents);
  absl::Status CheckFits(const Item& item);
  // Without a remover there must be room; with one there always is.
  absl::Status CheckRoom(const Item& item);
  void MakeRoom(std::size_t bytes);
  // Bytes of items or of contents, not the limiter, keep inserts out: then sampling goes on
  // whatever the limiter says, or nothing ever would.
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
