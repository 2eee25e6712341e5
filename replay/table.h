// SPDX-License-Identifier: Apache-2.0
// A table holds items under one name, bounded by number and bytes. A selector, the sampler, chooses
// the item that is sampled next. Another selector, the remover, chooses the item that makes room. A
// rate limiter says when the table gives and takes items.
//
// Insert takes these steps in order:
//   1. An id that was seen before is acknowledged and ignored.
//   2. An item that is stale already is accepted and counted as evicted.
//   3. There must be room: a full table without a remover pushes back and evicts no fresh item.
//   4. The limiter must allow the insert.
//   5. Every content must be known.
//   6. A full table with a remover evicts what the remover chooses, and the item is stored.
//
// Sample gives an item at most `max_times_sampled` times and removes it with the last sample. Items
// that the current version makes stale are evicted, and so are those older than `max_age`. When an
// item with a bounded number of samples leaves, what it earned from the limiter and can no longer
// use is taken back. While the table is full without a remover, or bytes of items or contents keep
// inserts out, Sample ignores the limiter, because otherwise neither side could go on.
//
// With `memory_bytes` the table gives the payloads for which it has no memory to a spill, each of
// them once, and keeps the rest of their items in memory. It begins before its memory is full, and
// takes no further items while the memory is full and payloads are on their way to the disk. A
// FIFO table gives up the newest payloads first, since they are sampled last. All others give up
// the oldest first. A sampled item whose payload is on disk comes without it (Item::spilled).
//
// Not thread-safe.
#pragma once

#include <absl/container/btree_set.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "platform/runtime/clock.h"
#include "platform/runtime/status.h"
#include "replay/content_store.h"
#include "replay/excluded_versions.h"
#include "replay/id_window.h"
#include "replay/item.h"
#include "replay/item_index.h"
#include "replay/rate_limiter.h"
#include "replay/selectors/selector.h"
#include "replay/signature.h"
#include "replay/spill.h"
#include "replay/table_hooks.h"
#include "replay/table_options.h"
#include "replay/table_stats.h"

namespace shoal::replay {

// An item that was sampled.
struct SampledItem {
  // Without its payload where that is on disk.
  std::shared_ptr<Item> item;
  Handle handle = 0;
  float priority = 0;
  // The probability with which the sampler chose it.
  double probability = 1;
  // The number of items in the table when it was chosen.
  std::size_t table_size = 0;
  // How often it has been sampled, including this time.
  std::uint32_t times_sampled = 0;
  // True if the item left the table with this sample.
  bool last = false;
  // True if the table's hooks or its spill may hold the item, too.
  bool hooked = false;
  // True if the payload was on disk and was read for this sample; if it could not be read and the
  // item is lost by that; and if it could not be read now, but may be later.
  bool read = false;
  bool lost = false;
  bool unread = false;

  // Returns true if nobody else has the payload, so that it may be moved away.
  bool sole_owner() const { return read || (last && times_sampled == 1 && !hooked); }
};

// What keeps a table from taking or giving an item.
enum class Wait {
  kNone,
  kMaxSize,
  kMaxBytes,
  kMemory,
  kContents,
  kMinSize,
  kSamplesPerInsert,
  kDisk
};

// Returns the option to which the wait is owed, "contents", "disk", or "".
std::string_view NameOf(Wait wait);

// What a table is besides its items and the ids that it has seen.
struct TableRecord {
  Handle next_handle = 0;
  double credit = 0;
  PolicyVersion current_version = {};
  std::uint32_t stream_max_lag = 0;
  ExcludedVersions excluded = nullptr;
  std::shared_ptr<const Signature> signature = nullptr;
  // That of the credit. Nothing means that of the table that is restored.
  std::optional<double> samples_per_insert = std::nullopt;
  // `size` and `bytes` follow from the items.
  TableStats stats = {};
};

class Table {
 public:
  // Returns INVALID_ARGUMENT, which names the table and the knob, if options contradict each other.
  // `contents` must outlive the table.
  static absl::StatusOr<std::unique_ptr<Table>> Create(TableOptions options,
                                                       ContentStore& contents);

  // Goes on with other options, and evicts the items that these do not allow. A table that holds
  // more than its new size evicts what the remover chooses; without a remover it takes no items
  // until enough have left. With a new samples_per_insert the credit is counted anew: it is what
  // the items of a table with max_times_sampled have left, else 0. Returns INVALID_ARGUMENT, and
  // changes nothing, if options contradict each other, or if they change the name, a selector,
  // priority_exponent, id_window or seed, or memory_bytes from or to 0.
  absl::Status Change(const TableOptions& options, runtime::TimePoint now);

  // Moves `item` away if the status is OK, and leaves it unchanged otherwise:
  //   RESOURCE_EXHAUSTED  the table is full, too far ahead of sampling, or waits for its spill.
  //   NOT_FOUND           a content or catalog is unknown.
  //   INVALID_ARGUMENT    the item is larger than the whole table.
  //   FAILED_PRECONDITION a version that acted in it is excluded.
  absl::Status Insert(std::shared_ptr<Item>& item);

  // Takes the signature of items that are about to be inserted. Returns FAILED_PRECONDITION, which
  // names the table, the column and what it is on both sides, if the table has another one. A
  // signature that was taken once is taken always.
  absl::Status Admit(const Signature& signature);
  // Null before the first one.
  const Signature* signature() const { return signature_.get(); }

  // Sets the priority of the item with this id. Returns NOT_FOUND if the table does not have it,
  // for it may have left. REQUIRES: `priority` is finite and at least 0.
  absl::Status Update(const UnrollId& id, float priority);

  // Evicts the items that `range` touches, and refuses such items from now on. Ranges that overlap
  // or follow each other become one. REQUIRES: CheckExclude(range) is OK; the range is not empty.
  void Exclude(const VersionRange& range);
  // Returns RESOURCE_EXHAUSTED if Exclude would leave more than kMostExcludedRanges.
  absl::Status CheckExclude(const VersionRange& range) const;

  // Returns the next item if the limiter allows. Its contents stay in use until ReleaseSample.
  std::optional<SampledItem> Sample();
  // Call it after the item's contents have been read from the store.
  void ReleaseSample(const SampledItem& sample);
  // Counts `reads` payloads that were read, for which their batch waited `wait`.
  void CountReads(std::size_t reads, runtime::Duration wait);
  // The payload of a sampled item cannot be read. Evicts the item if the table still has it.
  void Lose(Handle handle);
  // Gives up the payloads that the spill has written now that this position is durable. Returns
  // them, for the caller to free after it has released its lock.
  std::vector<std::shared_ptr<Item>> DropWritten(std::uint64_t durable);

  // Evicts the items that are stale now. Ignores a version older than an earlier one. A `max_lag`
  // above 0 bounds staleness in addition to the option; if neither does, nothing is evicted.
  void SetCurrentVersion(const PolicyVersion& current, std::uint32_t max_lag);

  // Evicts the items that are too old at this time, at which later items come in and are sampled.
  // Call it before Insert and Sample. REQUIRES: times do not go back.
  void SetTime(runtime::TimePoint now);

  // Evicts the item that the remover chooses, so that its contents may leave. Returns false if
  // there is no remover or no item.
  bool EvictOne();

  // Returns the items that were evicted since the last call, for the caller to free after it has
  // released its lock.
  std::vector<std::shared_ptr<Item>> TakeEvicted() { return std::exchange(evicted_, {}); }

  // Returns how many items the table would take now, estimated by their mean size.
  std::size_t room() const;
  // What would keep out an item of the mean size now, and what keeps samples back.
  Wait insert_wait() const;
  Wait sample_wait() const;
  std::size_t size() const { return items_.size(); }
  // What the sampler draws from now: nothing below the minimum size.
  Mass mass() const;
  const TableOptions& options() const { return options_; }
  TableStats stats() const;
  TableRecord record() const;
  // Calls visit(handle, stored) for each item, in no particular order.
  template <typename Visit>
  void ForEach(Visit visit) const {
    for (const auto& [handle, stored] : items_) visit(handle, stored);
  }

  // Tells `hooks` of changes from now on, after those that were added before. They must outlive all
  // other calls.
  void AddHooks(TableHooks& hooks) { hooks_.Add(hooks); }
  // Sets what takes the payloads beyond memory_bytes from now on. Call it before the first Insert
  // where memory_bytes is set. `spill` must outlive the table.
  void SetSpill(Spill* spill) { spill_ = spill; }

  // Makes an empty table what it was in an earlier process: first its state, then the ids that it
  // has seen and its items, both in order. An item of this `age` that has no use left leaves at
  // once. The spill has the payloads of all such items, so those beyond memory_bytes are given up
  // at once. Returns NOT_FOUND, and leaves the item out, if a content is unknown. With another
  // samples_per_insert than the record's the credit is counted anew, as by Change. REQUIRES:
  // handles ascend.
  void Restore(const TableRecord& record);
  void RestoreSeen(const UnrollId& id) { seen_.Add(id); }
  absl::Status Restore(Handle handle, const StoredItem& stored, runtime::Duration age);
  // Takes the signature of the items that were restored. An empty table has none to keep. Returns
  // FAILED_PRECONDITION, as Admit does, if the options have another one.
  absl::Status RestoreSignature(const Signature& signature);

 private:
  Table(TableOptions options, ContentStore& contents);
  // Returns the credit with which the limiter goes on under `next`, before options_ change.
  double CreditUnder(const TableOptions& next) const;
  // Returns what an item of the table may still give under these options.
  static double CreditOf(const StoredItem& stored, const TableOptions& options);
  void EvictStale();
  absl::Status CheckVersions(const Item& item) const;
  absl::Status CheckFits(const Item& item);
  // Checks that there is room, or a remover to make it, and that the limiter allows an insert.
  absl::Status CheckRoom(const Item& item);
  void MakeRoom(std::size_t bytes);
  // Returns true if items or bytes, not the limiter, keep inserts out until something leaves.
  bool Full() const;
  // Returns true if an item of so many bytes has to wait until the spill has written payloads.
  bool OutOfMemory(std::size_t bytes) const;
  // Gives payloads to the spill until the others have room.
  void SpillSome();
  // Takes the payload from an item, and returns the item as it was.
  std::shared_ptr<Item> DropPayload(StoredItem& stored);
  // Returns how many items of the mean size fit into the free bytes.
  std::size_t RoomByBytes() const;
  // Returns the mean size of the items, at least 1.
  std::size_t MeanBytes() const;
  std::uint32_t max_lag() const;
  // The steps by which `version` is behind the current one, or 0 in another epoch.
  std::uint64_t LagOf(const PolicyVersion& version) const;
  // Removes the item from everything except the content store.
  std::shared_ptr<Item> Remove(Handle handle);
  void Evict(Handle handle);
  void Store(Handle handle, const StoredItem& stored);

  TableOptions options_;
  const std::unique_ptr<Selector> sampler_;
  // Null without a remover.
  const std::unique_ptr<Selector> remover_;
  ContentStore& contents_;
  TableHookList hooks_;
  // Null until the table was restored. Until then all payloads are on disk already.
  Spill* spill_ = nullptr;
  RateLimiter limiter_;
  // Null before the first one. Never changed, since records hold it, too.
  std::shared_ptr<const Signature> signature_;
  IdWindow seen_;
  StoredItems items_;
  ItemIndex index_{items_};
  // Oldest version first.
  absl::btree_set<std::pair<PolicyVersion, Handle>> by_version_;
  runtime::TimePoint now_{};
  std::vector<std::shared_ptr<Item>> evicted_;
  // The items whose payloads the spill was not given. Empty without memory_bytes.
  std::set<Handle> unspilled_;
  // The items whose payloads the spill is writing, with their positions, and the bytes of those
  // that the table still has.
  std::deque<std::pair<std::uint64_t, Handle>> writing_;
  std::size_t writing_bytes_ = 0;
  Handle next_handle_ = 0;
  PolicyVersion current_version_;
  ExcludedVersions excluded_;
  // The limit of the sampling stream that reported a version last.
  std::uint32_t stream_max_lag_ = 0;
  // True if the last insert found too few bytes.
  bool out_of_bytes_ = false;
  // True if items that are restored bring credit.
  bool restores_credit_ = false;
  TableStats stats_;
};

}  // namespace shoal::replay
