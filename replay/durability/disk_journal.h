// SPDX-License-Identifier: Apache-2.0
// A journal on disk: it writes the changes of a shard's durable tables and of all contents to a
// database, and restores them from it. Of tables with memory_bytes but without durability it writes
// the payloads that they spill, and where no table is durable the chunks that the contents spill,
// and deletes what an earlier process has left of these.
//
// Hooks note changes in memory. The journal's thread takes all that were noted and writes them in
// one batch, which the database takes whole or not at all, so what is on disk is always what the
// shard was at one moment. A change of a table with `always` is written as soon as the thread is
// free. One of a table with `batch` waits for half the table's window, so that the window is kept
// as long as a write takes less than the other half; when it takes more, Ready refuses inserts.
//
// Uses: before an item of a table with `always` is given out, the database knows of the use. An
// item reserves an eighth of its table's max_times_sampled at a time (16 uses without a maximum),
// so that most samples wait for nothing. Reserved uses that were not given out count as used after
// a kill.
//
// When a write fails, the journal opens the database anew and tries again, without end and with the
// same batch. Meanwhile Ready fails, what waits is not acknowledged, and tables go on in memory.
// What waits is bounded by the contents of the tables, since changes that undo each other leave
// nothing.
//
// The destructor writes what is left, and the exact uses.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "platform/runtime/clock.h"
#include "platform/runtime/mutex.h"
#include "platform/runtime/thread.h"
#include "replay/durability/changes.h"
#include "replay/durability/database.h"
#include "replay/journal.h"

namespace shoal::replay::durability {

struct DiskJournalOptions {
  std::string directory;
  // A checkpoint is written to a folder of the directory's name, in a folder that is named after
  // the learner's checkpoint, in this folder. Empty: there are no checkpoints.
  std::string checkpoints = {};
  // The folder, named after a learner's checkpoint, from which a journal begins whose directory is
  // not there yet. Empty: it begins empty.
  std::string restore = {};
  // Inserts are refused while more bytes of payloads and contents than this wait to be written.
  std::size_t waiting_bytes = std::size_t{64} << 20;
  // How long to wait before the database is opened anew.
  runtime::Duration retry = std::chrono::milliseconds(500);
  // RocksDB's view of the files. Null: the real one.
  rocksdb::Env* env = nullptr;
  // The number of journals on disk that the process has. They share its file descriptors.
  std::size_t journals = 1;
};

class DiskJournal final : public Journal, private ContentHooks {
 public:
  // Fails as Database::Open does, and with FAILED_PRECONDITION if there is nothing to restore.
  // `clock` must outlive the journal.
  static absl::StatusOr<std::unique_ptr<DiskJournal>> Create(
      DiskJournalOptions options, runtime::Clock& clock = runtime::SystemClock());
  ~DiskJournal() override;

  // Returns FAILED_PRECONDITION if the directory holds a table that is not among `tables` with a
  // durability.
  absl::Status Start(ContentStore& contents, std::span<const std::unique_ptr<Table>> tables,
                     std::function<void()> changed) override ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status Ready(std::size_t table) const override ABSL_LOCKS_EXCLUDED(mutex_);
  std::uint64_t AcknowledgedAt(std::size_t table) const override ABSL_LOCKS_EXCLUDED(mutex_);
  std::uint64_t SampledAt(std::size_t table) const override ABSL_LOCKS_EXCLUDED(mutex_);
  std::uint64_t durable() const override ABSL_LOCKS_EXCLUDED(mutex_);
  std::shared_ptr<const SpilledPayloads> Payloads() const override ABSL_LOCKS_EXCLUDED(mutex_);
  bool readable() const override ABSL_LOCKS_EXCLUDED(mutex_);
  void WhenDurable(std::function<void(const absl::Status&)> done) override
      ABSL_LOCKS_EXCLUDED(mutex_);
  void Checkpoint(const std::string& learner_checkpoint,
                  std::function<void(const absl::StatusOr<std::string>&)> done) override
      ABSL_LOCKS_EXCLUDED(mutex_);
  JournalStats stats() const override ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  class Follower;
  class Spiller;
  struct Promises {
    std::uint64_t acknowledged_at = 0;
    std::uint64_t sampled_at = 0;
  };

  // Something to be done once a position is durable.
  struct Request {
    std::uint64_t position = 0;
    // Empty: no checkpoint is wanted.
    std::string learner_checkpoint = {};
    std::function<void(const absl::StatusOr<std::string>&)> done;
  };

  DiskJournal(DiskJournalOptions options, std::unique_ptr<Database> database,
              runtime::Clock& clock);
  // Returns zeros where the table's promises do not wait.
  Promises PromisesOf(std::size_t table) const ABSL_LOCKS_EXCLUDED(mutex_);
  std::uint64_t OnPut(std::uint64_t number, const std::shared_ptr<const Content>& content) override
      ABSL_LOCKS_EXCLUDED(mutex_);
  void OnEvict(std::uint64_t number) override ABSL_LOCKS_EXCLUDED(mutex_);

  void Enqueue(Request request) ABSL_LOCKS_EXCLUDED(mutex_);
  void ServeRequests() ABSL_LOCKS_EXCLUDED(mutex_);
  // Returns the directory of the checkpoint, or an empty one if none is wanted.
  absl::StatusOr<std::string> Serve(const Request& request) ABSL_LOCKS_EXCLUDED(mutex_);
  std::shared_ptr<Database> database() const ABSL_LOCKS_EXCLUDED(mutex_);

  // Counts a change that is to be written within `delay`, and returns its position.
  std::uint64_t NoteLocked(runtime::Duration delay) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Run() ABSL_LOCKS_EXCLUDED(mutex_);
  // Waits until a batch is due, and fills it. Returns false when nothing is left and the journal
  // ends.
  bool TakeDue(rocksdb::WriteBatch& batch, std::uint64_t& position) ABSL_LOCKS_EXCLUDED(mutex_);
  // Returns false if the batch could not be written before the journal ends.
  bool WriteUntilDone(rocksdb::WriteBatch& batch) ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status WriteOnce(rocksdb::WriteBatch& batch) ABSL_LOCKS_EXCLUDED(mutex_);
  // Returns false if the journal ends.
  bool AwaitRetry(const absl::Status& failure) ABSL_LOCKS_EXCLUDED(mutex_);

  const DiskJournalOptions options_;
  runtime::Clock& clock_;
  std::shared_ptr<const std::vector<std::string>> names_;
  // One of each for each table; null for a table without durability, and for one that is durable or
  // has no bound in memory. Set by Start.
  std::vector<std::unique_ptr<Follower>> followers_;
  std::vector<std::unique_ptr<Spiller>> spillers_;
  std::function<void()> changed_;
  // Within this time a new content is to be written: at once where it is only written because
  // memory is nearly full. Set by Start.
  runtime::Duration content_delay_{};

  mutable runtime::Mutex mutex_;
  // Set by the journal's thread alone. Null while it cannot be opened.
  std::shared_ptr<Database> database_ ABSL_GUARDED_BY(mutex_);
  runtime::CondVar due_changed_;
  std::unique_ptr<Changes> changes_ ABSL_GUARDED_BY(mutex_);
  std::vector<Promises> promises_ ABSL_GUARDED_BY(mutex_);
  // The position of the last change that was noted, that was taken to be written, and that is
  // durable.
  std::uint64_t noted_ ABSL_GUARDED_BY(mutex_) = 0;
  std::uint64_t taken_ ABSL_GUARDED_BY(mutex_) = 0;
  std::uint64_t durable_ ABSL_GUARDED_BY(mutex_) = 0;
  // When the changes that wait have to be taken, where noted_ > taken_.
  runtime::TimePoint due_ ABSL_GUARDED_BY(mutex_);
  // When the first of the changes that wait, and of those that are being written, was noted.
  runtime::TimePoint waiting_since_ ABSL_GUARDED_BY(mutex_);
  runtime::TimePoint writing_since_ ABSL_GUARDED_BY(mutex_);
  absl::Status failure_ ABSL_GUARDED_BY(mutex_);
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  JournalStats stats_ ABSL_GUARDED_BY(mutex_);
  // A request, a durable position, a failure, or the end.
  runtime::CondVar requests_changed_;
  std::deque<Request> requests_ ABSL_GUARDED_BY(mutex_);
  // True once nothing more is written.
  bool over_ ABSL_GUARDED_BY(mutex_) = false;
  runtime::Thread thread_;
  // Writes checkpoints, so that writing changes does not wait for them.
  runtime::Thread checkpointer_;
};

}  // namespace shoal::replay::durability
