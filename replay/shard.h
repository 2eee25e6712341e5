// SPDX-License-Identifier: Apache-2.0
// A shard is one replay process without its network: contents and tables behind one lock.
//
// With a journal the shard begins with what an earlier process left, and tells the journal of each
// change. Acknowledgements and samples leave once durable() has reached the position that comes
// with them. Payloads of tables with memory_bytes, and chunks of contents with memory_bytes, may be
// on disk: a batch comes without these, and ReadParts reads them without the shard's lock.
//
// Thread-safe. Nothing waits under the lock, and large memory is freed after it is released. To
// learn when trying again may help, call AwaitChange on a thread of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "platform/runtime/clock.h"
#include "platform/runtime/mutex.h"
#include "platform/runtime/status.h"
#include "replay/content_store.h"
#include "replay/journal.h"
#include "replay/table.h"

namespace shoal::replay {

struct ShardOptions {
  std::vector<TableOptions> tables = {};
  ContentStoreOptions contents = {};
  // How many payloads and chunks are read from disk at the same time.
  std::size_t read_threads = 8;
};

struct SampleBatch {
  // Each content comes after the contents that it uses. Those that the reader has are left out.
  std::vector<std::shared_ptr<const Content>> contents;
  std::vector<SampledItem> samples;
  // What the table holds after these samples.
  Mass left;
  // The steps of all items that the table has taken in, without relabelled ones.
  std::uint64_t inserted_steps = 0;
  // The batch may leave once Shard::durable() has reached this.
  std::uint64_t durable_at = 0;
  // Has the payloads that samples lack, and the chunks that contents lack. Null if none lacks any.
  std::shared_ptr<const SpilledPayloads> payloads;
  // What became of each content that had to be read. Empty where nothing has to be.
  enum class Outcome : std::uint8_t { kNotRead, kRead, kLost };
  std::vector<Outcome> outcomes;
  // Of the table among the shard's, and the reader that gets the contents.
  std::size_t table = 0;
  int reader = 0;
  runtime::TimePoint sampled{};
};

// The parts of a batch are its samples and, numbered behind them, its contents.
inline std::size_t Parts(const SampleBatch& batch) {
  return batch.samples.size() + batch.contents.size();
}
// Returns how many parts from `first` on, at least one, are best read together: samples whose items
// came one after another, so that their payloads lie side by side on the disk, or contents of which
// those that have to be read came one after another.
std::size_t Neighbours(const SampleBatch& batch, std::size_t first);
// Reads the payloads or chunks of so many parts from `first` on from disk, or marks as lost what
// the disk has no more. Does nothing for parts that lack nothing. Other parts of the batch may be
// read at the same time. REQUIRES: `count` is at most Neighbours(batch, first).
void ReadParts(SampleBatch& batch, std::size_t first, std::size_t count);

struct PriorityUpdate {
  UnrollId id;
  float priority = 0;
};

// What a table is now.
struct TableState {
  TableOptions options;
  TableStats stats;
  Wait insert_wait = Wait::kNone;
  Wait sample_wait = Wait::kNone;
  // Since the last item came in or was given out, or since the shard was made.
  runtime::Duration since_insert{};
  runtime::Duration since_sample{};
  // As text, empty before the first one.
  std::string signature;
};

struct ShardStats {
  // In the order of ShardOptions::tables.
  std::vector<TableStats> tables;
  std::size_t content_count = 0;
  std::size_t content_bytes = 0;
  std::size_t unused_content_bytes = 0;
  std::size_t chunk_count = 0;
  std::size_t chunk_bytes = 0;
  // The bytes of chunks that are on disk alone.
  std::size_t content_disk_bytes = 0;
  // All 0 without a journal.
  JournalStats journal;
};

class Shard {
 public:
  // Returns INVALID_ARGUMENT if there is no table, two have the same name, a table's options
  // contradict each other, or one or the contents have memory_bytes and there is no journal, and
  // fails as
  // Journal::Start does. Without a journal everything is in memory alone.
  static absl::StatusOr<std::unique_ptr<Shard>> Create(
      ShardOptions options, runtime::Clock& clock = runtime::SystemClock(),
      std::unique_ptr<Journal> journal = nullptr);

  // Like ContentStore::Put. But before a content is refused because contents in use fill the store,
  // tables with a remover evict items one by one until there is room or they are empty. None is
  // evicted while chunks in memory wait to be written.
  absl::Status Put(Content&& content) ABSL_LOCKS_EXCLUDED(mutex_);
  // Like ContentStore::Missing and ContentStore::full.
  std::vector<Key> Missing(const Item& item) const ABSL_LOCKS_EXCLUDED(mutex_);
  bool ContentsFull() const ABSL_LOCKS_EXCLUDED(mutex_);
  // Like Table::Insert. Returns FAILED_PRECONDITION if there is no such table, and fails as
  // Journal::Ready does.
  absl::Status Insert(std::string_view table, std::shared_ptr<Item>& item)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // Lock step: a round that was played in this version ended with the item that was inserted last.
  // REQUIRES: HasTable(table).
  void EndRound(std::string_view table, const PolicyVersion& played) ABSL_LOCKS_EXCLUDED(mutex_);
  // Returns whether a round has ended that was played in this version or a newer one, since the
  // shard was made. REQUIRES: HasTable(table).
  bool HasRoundOf(std::string_view table, const PolicyVersion& played) const
      ABSL_LOCKS_EXCLUDED(mutex_);
  // Like Table::Admit. Returns FAILED_PRECONDITION if there is no such table.
  absl::Status Admit(std::string_view table, const Signature& signature)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // Compares what a reader of `table` expects, as Signature::CheckReader does. Returns false if the
  // table has no signature yet. REQUIRES: HasTable(table).
  absl::StatusOr<bool> CheckReader(std::string_view table, const Signature& reader) const
      ABSL_LOCKS_EXCLUDED(mutex_);
  // Like Table::AddHooks; those of the journal are told first. The hooks must outlive the shard.
  // REQUIRES: HasTable(table).
  void AddHooks(std::string_view table, TableHooks& hooks) ABSL_LOCKS_EXCLUDED(mutex_);
  // Like Table::Change of the table that `options` names. Returns NOT_FOUND if there is none.
  absl::Status Change(const TableOptions& options) ABSL_LOCKS_EXCLUDED(mutex_);
  // Returns the tables in the order of ShardOptions::tables.
  std::vector<TableState> tables() const ABSL_LOCKS_EXCLUDED(mutex_);
  // Returns true if the signature of `table` is configured.
  bool RequiresSignature(std::string_view table) const;
  // Like Journal::AcknowledgedAt and Journal::durable. REQUIRES: HasTable(table).
  std::uint64_t AcknowledgedAt(std::string_view table) const;
  std::uint64_t durable() const;
  // Like Table::Exclude, for all tables; returns the number of items that were removed. Does
  // nothing and returns INVALID_ARGUMENT if the range is empty, and RESOURCE_EXHAUSTED if
  // Table::CheckExclude of a table does.
  absl::StatusOr<std::size_t> Exclude(const VersionRange& range) ABSL_LOCKS_EXCLUDED(mutex_);
  // Like the functions of Journal. Without one, everything is as durable as it can be, and
  // Checkpoint gives FAILED_PRECONDITION.
  void WhenDurable(std::function<void(const absl::Status&)> done) ABSL_LOCKS_EXCLUDED(mutex_);
  void Checkpoint(const std::string& learner_checkpoint,
                  std::function<void(const absl::StatusOr<std::string>&)> done)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // Sets the priorities of those items of `updates` that `table` has, and returns their number.
  // REQUIRES: HasTable(table); priorities are finite and at least 0.
  std::size_t Update(std::string_view table, std::span<const PriorityUpdate> updates)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // Returns how many items `table` would take now, or 0 if there is no such table.
  std::size_t Room(std::string_view table) ABSL_LOCKS_EXCLUDED(mutex_);

  bool HasTable(std::string_view table) const { return Index(table) < options_.tables.size(); }
  // Like the functions of ContentStore.
  absl::StatusOr<int> OpenReader() ABSL_LOCKS_EXCLUDED(mutex_);
  void CloseReader(int reader) ABSL_LOCKS_EXCLUDED(mutex_);
  void Forget(int reader, std::span<const Key> keys) ABSL_LOCKS_EXCLUDED(mutex_);
  // Notes that a learner group of this epoch samples from `table`. Returns FAILED_PRECONDITION if a
  // group of a later epoch already does. REQUIRES: HasTable(table).
  absl::Status JoinGroup(std::string_view table, std::uint64_t epoch) ABSL_LOCKS_EXCLUDED(mutex_);
  // Samples up to `max_items`, and stops after the item with which payloads and contents reach
  // `max_bytes`.
  // The batch is empty when the table has nothing to give now. Payloads and chunks that are on disk
  // are not read: do this for each part, and then call FinishReads. REQUIRES: HasTable(table);
  // `reader` is open.
  SampleBatch Sample(std::string_view table, int reader, std::size_t max_items,
                     std::size_t max_bytes) ABSL_LOCKS_EXCLUDED(mutex_);
  // Counts what was read for `batch`, and evicts the items of lost samples and removes these from
  // the batch. A sample that uses a chunk which was not read counts as not read, and as lost if the
  // chunk is, which can then be put again; samples of other batches that count on the reader having
  // this chunk are lost to it. Returns true if there were samples that were not read and are not
  // lost: it may help to sample again later.
  bool FinishReads(SampleBatch& batch) ABSL_LOCKS_EXCLUDED(mutex_);
  // REQUIRES: HasTable(table).
  Mass MassOf(std::string_view table) const ABSL_LOCKS_EXCLUDED(mutex_);
  // What keeps samples back now. REQUIRES: HasTable(table).
  Wait SampleWait(std::string_view table) const ABSL_LOCKS_EXCLUDED(mutex_);
  // Returns whether the table's sampler draws at random. REQUIRES: HasTable(table).
  bool DrawsAtRandom(std::string_view table) const;
  // Like Table::SetCurrentVersion. REQUIRES: HasTable(table).
  void SetCurrentVersion(std::string_view table, const PolicyVersion& current,
                         std::uint32_t max_lag) ABSL_LOCKS_EXCLUDED(mutex_);

  // Waits until the shard has changed since the call that returned `seen`, at most for `timeout`,
  // or until Close. Start with `seen` 0.
  std::uint64_t AwaitChange(std::uint64_t seen, runtime::Duration timeout)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // Makes AwaitChange return once, as a change does.
  void Notify() ABSL_LOCKS_EXCLUDED(mutex_);
  // Makes AwaitChange return at once from now on.
  void Close() ABSL_LOCKS_EXCLUDED(mutex_);
  bool closed() const ABSL_LOCKS_EXCLUDED(mutex_);

  ShardStats stats() const ABSL_LOCKS_EXCLUDED(mutex_);
  // As at the start; tables() knows what Change has changed.
  const ShardOptions& options() const { return options_; }

 private:
  Shard(ShardOptions options, runtime::Clock& clock, std::unique_ptr<Journal> journal);
  absl::Status Ready(std::size_t table) const;
  // Returns the items and payloads that `table` has no use for any more.
  std::vector<std::shared_ptr<Item>> TakeFreedLocked(Table& table)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Like Table::sample_wait, but also tells when payloads are on disk and cannot be read.
  Wait SampleWaitLocked(const Table& table) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The journal has made more durable, or fails.
  void JournalChanged() ABSL_LOCKS_EXCLUDED(mutex_);
  // Returns the number of tables if none has this name.
  std::size_t Index(std::string_view table) const;
  // Takes the contents out of `batch` that were not read, and notes that its reader lacks them and
  // that samples which use them are not read either.
  void ForgetUnreadLocked(SampleBatch& batch) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Evicts an item from the table that holds the most bytes among those with a remover. Returns the
  // table, or null if there is none with an item.
  Table* EvictOneLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void ChangedLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const ShardOptions options_;
  runtime::Clock& clock_;

  mutable runtime::Mutex mutex_;
  runtime::CondVar changed_;
  ContentStore contents_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::unique_ptr<Table>> tables_ ABSL_GUARDED_BY(mutex_);
  // One of each for each table.
  std::vector<std::uint64_t> group_epochs_ ABSL_GUARDED_BY(mutex_);
  // The newest version of which a round has ended.
  std::vector<PolicyVersion> rounds_ ABSL_GUARDED_BY(mutex_);
  // The environment steps of each table that were restored when the shard started.
  std::vector<std::uint64_t> earlier_steps_ ABSL_GUARDED_BY(mutex_);
  std::vector<runtime::TimePoint> inserted_ ABSL_GUARDED_BY(mutex_);
  std::vector<runtime::TimePoint> sampled_ ABSL_GUARDED_BY(mutex_);
  std::uint64_t changes_ ABSL_GUARDED_BY(mutex_) = 1;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  // Last, so that it ends before what it follows. Null without one.
  const std::unique_ptr<Journal> journal_;
};

}  // namespace shoal::replay
