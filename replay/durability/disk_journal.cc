// SPDX-License-Identifier: Apache-2.0
#include "replay/durability/disk_journal.h"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "platform/runtime/log.h"
#include "replay/durability/database_payloads.h"
#include "replay/durability/records.h"
#include "replay/durability/reservation.h"
#include "replay/durability/restore.h"

namespace shoal::replay::durability {
namespace {

// Nobody waits for a content before an item uses it.
constexpr std::chrono::milliseconds kContentDelay(100);
// Where memory is bounded, chunks can leave it only when they are written.
constexpr std::chrono::milliseconds kBoundedContentDelay(10);
// Nobody waits for a payload or a content to leave the disk.
constexpr std::chrono::milliseconds kEraseDelay(100);

double Seconds(runtime::Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

std::string NameOf(const std::string& directory) {
  return std::filesystem::path(directory).filename().string();
}

absl::Status Restore(const DiskJournalOptions& options) {
  if (options.restore.empty()) return absl::OkStatus();
  std::error_code ignored;
  if (std::filesystem::exists(options.directory, ignored)) {
    spdlog::info("event=restore_skipped reason=\"{} is there already\"", options.directory);
    return absl::OkStatus();
  }
  return CopyCheckpoint(options.restore + "/" + NameOf(options.directory), options.directory);
}

absl::Status CheckName(const std::string& id) {
  constexpr std::size_t kMostLetters = 100;
  const bool sound = !id.empty() && id.size() <= kMostLetters && id.front() != '.' &&
                     std::all_of(id.begin(), id.end(), [](char letter) {
                       return std::isalnum(static_cast<unsigned char>(letter)) != 0 ||
                              std::string_view("._-").find(letter) != std::string_view::npos;
                     });
  if (sound) return absl::OkStatus();
  return runtime::InvalidArgument(
      "learner_checkpoint has 1 to 100 letters, digits, '.', '_' and '-', and does not begin with "
      "'.'");
}

}  // namespace

// Follows one durable table. It is its spill, too: what the table spills is written anyway.
class DiskJournal::Follower final : public TableHooks, public Spill {
 public:
  Follower(DiskJournal& journal, Table& table, std::size_t index, std::uint64_t seen)
      : journal_(journal),
        table_(table),
        index_(index),
        reservation_(ReservationSize(table.options().max_times_sampled)),
        always_(table.options().durability == Durability::kAlways),
        window_(table.options().batch_window),
        excluded_(table.record().excluded),
        seen_(seen) {}

  void OnInsert(Handle handle, const std::shared_ptr<const Item>& item) override {
    const std::uint64_t came = journal_.clock_.UnixNanos();
    const runtime::MutexLock lock(journal_.mutex_);
    journal_.changes_->Insert(index_, handle, item, came);
    See(item->id);
  }

  void OnSample(Handle handle, float priority, std::uint32_t times_sampled) override {
    const std::uint32_t reserved = ReservedUses(times_sampled, reservation_);
    const bool reserves = times_sampled + reservation_ - 1 == reserved;
    const bool limited = table_.options().limiter.samples_per_insert > 0;
    const runtime::MutexLock lock(journal_.mutex_);
    if (reserves) {
      journal_.changes_->SetRow(index_, handle, {.priority = priority, .uses = reserved});
    }
    const bool waits = reserves || limited;
    const std::uint64_t position = Note(waits ? Delay() : HalfWindow());
    if (waits) journal_.promises_[index_].sampled_at = position;
  }

  void OnUpdate(Handle handle, float priority, std::uint32_t times_sampled) override {
    const runtime::MutexLock lock(journal_.mutex_);
    journal_.changes_->SetRow(
        index_, handle, {.priority = priority, .uses = ReservedUses(times_sampled, reservation_)});
    Note(HalfWindow());
  }

  void OnDelete(Handle handle) override {
    const runtime::MutexLock lock(journal_.mutex_);
    journal_.changes_->Delete(index_, handle);
    Note(HalfWindow());
  }

  void OnSeen(const UnrollId& id) override {
    const runtime::MutexLock lock(journal_.mutex_);
    See(id);
  }

  void OnChange() override {
    const runtime::MutexLock lock(journal_.mutex_);
    Note(HalfWindow());
  }

  std::uint64_t Write(Handle, const std::shared_ptr<const Item>&) override {
    const runtime::MutexLock lock(journal_.mutex_);
    return journal_.noted_;
  }
  void Erase(Handle) override {}

  // These do not change, so they need no lock.
  bool always() const { return always_; }
  runtime::Duration window() const { return window_; }

  // Notes the exact uses and counts, for a journal that ends.
  void NoteExactly() {
    std::vector<std::pair<Handle, Row>> rows;
    table_.ForEach([&rows, this](Handle handle, const StoredItem& stored) {
      const Row row{.priority = stored.priority, .uses = stored.times_sampled};
      if (ReservedUses(row.uses, reservation_) != row.uses) rows.emplace_back(handle, row);
    });
    const runtime::MutexLock lock(journal_.mutex_);
    for (const auto& [handle, row] : rows) journal_.changes_->SetRow(index_, handle, row);
    Note(runtime::Duration::zero());
  }

 private:
  runtime::Duration HalfWindow() const { return window_ / 2; }
  runtime::Duration Delay() const { return always_ ? runtime::Duration::zero() : HalfWindow(); }
  void See(const UnrollId& id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(journal_.mutex_) {
    journal_.changes_->See(index_, seen_++, table_.options().id_window, id);
    journal_.promises_[index_].acknowledged_at = Note(Delay());
  }
  std::uint64_t Note(runtime::Duration delay) ABSL_EXCLUSIVE_LOCKS_REQUIRED(journal_.mutex_) {
    const TableRecord record = table_.record();
    journal_.changes_->SetState(index_, record);
    if (record.excluded != excluded_) {
      journal_.changes_->SetExcluded(index_, record.excluded, CountOf(excluded_));
      excluded_ = record.excluded;
    }
    return journal_.NoteLocked(delay);
  }

  DiskJournal& journal_;
  Table& table_;
  const std::size_t index_;
  // That of the options at the start, since blocks of another size would not follow each other.
  const std::uint32_t reservation_;
  const bool always_;
  const runtime::Duration window_;
  // As it was noted last.
  ExcludedVersions excluded_;
  // The number of ids that the table has seen.
  std::uint64_t seen_;
};

// Takes what one table without durability spills.
class DiskJournal::Spiller final : public Spill {
 public:
  Spiller(DiskJournal& journal, std::size_t index) : journal_(journal), index_(index) {}

  std::uint64_t Write(Handle handle, const std::shared_ptr<const Item>& item) override {
    const runtime::MutexLock lock(journal_.mutex_);
    journal_.changes_->Spill(index_, handle, item);
    return journal_.NoteLocked(runtime::Duration::zero());
  }
  void Erase(Handle handle) override {
    const runtime::MutexLock lock(journal_.mutex_);
    journal_.changes_->Delete(index_, handle);
    journal_.NoteLocked(kEraseDelay);
  }

 private:
  DiskJournal& journal_;
  const std::size_t index_;
};

absl::StatusOr<std::unique_ptr<DiskJournal>> DiskJournal::Create(DiskJournalOptions options,
                                                                 runtime::Clock& clock) {
  if (options.env == nullptr) options.env = rocksdb::Env::Default();
  SHOAL_RETURN_IF_ERROR(Restore(options));
  SHOAL_ASSIGN_OR_RETURN(auto database,
                         Database::Open(options.directory, options.env, options.journals));
  return std::unique_ptr<DiskJournal>(
      new DiskJournal(std::move(options), std::move(database), clock));
}

DiskJournal::DiskJournal(DiskJournalOptions options, std::unique_ptr<Database> database,
                         runtime::Clock& clock)
    : options_(std::move(options)), clock_(clock), database_(std::move(database)) {}

DiskJournal::~DiskJournal() {
  if (!thread_.joinable()) return;
  for (const auto& follower : followers_) {
    if (follower != nullptr) follower->NoteExactly();
  }
  {
    const runtime::MutexLock lock(mutex_);
    ending_ = true;
    due_changed_.NotifyAll();
  }
  thread_.Join();
  {
    const runtime::MutexLock lock(mutex_);
    over_ = true;
    requests_changed_.NotifyAll();
  }
  checkpointer_.Join();
}

std::shared_ptr<Database> DiskJournal::database() const {
  const runtime::MutexLock lock(mutex_);
  return database_;
}

absl::Status DiskJournal::Start(ContentStore& contents,
                                std::span<const std::unique_ptr<Table>> tables,
                                std::function<void()> changed) {
  changed_ = std::move(changed);
  const std::shared_ptr<Database> database = this->database();
  std::set<std::string> durable;
  std::vector<std::string> names;
  for (const auto& table : tables) {
    names.push_back(table->options().name);
    if (table->options().durability != Durability::kNone) durable.insert(names.back());
  }
  names_ = std::make_shared<const std::vector<std::string>>(names);
  for (Cursor cursor(*database, Column::kState, "T"); cursor.valid(); cursor.Next()) {
    const std::string name(cursor.key().substr(1));
    if (durable.contains(name)) continue;
    return runtime::FailedPrecondition(
        options_.directory + " holds table " + name +
        ", which has no durability now: configure it, or name another directory");
  }
  SHOAL_RETURN_IF_ERROR(database->KeepItemsOf(durable));
  if (durable.empty()) SHOAL_RETURN_IF_ERROR(database->DeleteContents());
  auto changes = std::make_unique<Changes>(names);
  std::uint64_t damaged = RestoreContents(*database, contents, *changes);
  for (std::size_t i = 0; i < tables.size(); ++i) {
    const bool is_durable = durable.contains(names[i]);
    const bool spills = !is_durable && tables[i]->options().memory_bytes > 0;
    followers_.push_back(nullptr);
    spillers_.push_back(spills ? std::make_unique<Spiller>(*this, i) : nullptr);
    if (!is_durable) continue;
    SHOAL_ASSIGN_OR_RETURN(const RestoredTable restored,
                           RestoreTable(*database, *tables[i], i, *changes, clock_));
    damaged += restored.damaged;
    followers_.back() = std::make_unique<Follower>(*this, *tables[i], i, restored.seen);
    changes->SetState(i, tables[i]->record());
    spdlog::info("event=table_restored table={} items={} lost={}", runtime::Quoted(names[i]),
                 tables[i]->size(), restored.damaged);
  }
  {
    const runtime::MutexLock lock(mutex_);
    changes_ = std::move(changes);
    stats_.damaged_total = damaged;
    stats_.learner_checkpoint = database->StateOf(kLearnerKey);
    // The uses that the restored items reserve are not on disk before this is.
    const std::uint64_t reserved = NoteLocked(runtime::Duration::zero());
    promises_.assign(tables.size(), {.acknowledged_at = 0, .sampled_at = reserved});
  }
  if (!durable.empty()) {
    content_delay_ = contents.bounds_memory() ? kBoundedContentDelay : kContentDelay;
    contents.SetHooks(this, ContentStore::Tell::kOfAll);
  } else if (contents.bounds_memory()) {
    contents.SetHooks(this, ContentStore::Tell::kOfSpilled);
  }
  contents.EndRestore();
  for (std::size_t i = 0; i < tables.size(); ++i) {
    if (followers_[i] != nullptr) {
      tables[i]->AddHooks(*followers_[i]);
      tables[i]->SetSpill(followers_[i].get());
    }
    if (spillers_[i] != nullptr) tables[i]->SetSpill(spillers_[i].get());
  }
  thread_ = runtime::Thread("replay-journal", [this] { Run(); });
  checkpointer_ = runtime::Thread("replay-checkpoint", [this] { ServeRequests(); });
  return absl::OkStatus();
}

absl::Status DiskJournal::Ready(std::size_t table) const {
  const Follower* const follower = followers_[table].get();
  if (follower == nullptr) return absl::OkStatus();
  const runtime::TimePoint now = clock_.Now();
  const runtime::MutexLock lock(mutex_);
  if (!failure_.ok()) return failure_;
  if (changes_->bytes() > options_.waiting_bytes) {
    return runtime::ResourceExhausted(std::to_string(changes_->bytes()) +
                                      " bytes wait to be written to " + options_.directory);
  }
  const runtime::TimePoint oldest = taken_ > durable_ ? writing_since_ : waiting_since_;
  if (!follower->always() && noted_ > durable_ && now > oldest + follower->window()) {
    return runtime::ResourceExhausted("writing to " + options_.directory +
                                      " takes longer than batch_window_ms allows");
  }
  return absl::OkStatus();
}

DiskJournal::Promises DiskJournal::PromisesOf(std::size_t table) const {
  const Follower* const follower = followers_[table].get();
  if (follower == nullptr || !follower->always()) return {};
  const runtime::MutexLock lock(mutex_);
  return promises_[table];
}

std::uint64_t DiskJournal::AcknowledgedAt(std::size_t table) const {
  return PromisesOf(table).acknowledged_at;
}

std::uint64_t DiskJournal::SampledAt(std::size_t table) const {
  return PromisesOf(table).sampled_at;
}

std::uint64_t DiskJournal::durable() const {
  const runtime::MutexLock lock(mutex_);
  return durable_;
}

bool DiskJournal::readable() const {
  const runtime::MutexLock lock(mutex_);
  return database_ != nullptr;
}

std::shared_ptr<const SpilledPayloads> DiskJournal::Payloads() const {
  const std::shared_ptr<Database> database = this->database();
  if (database == nullptr) return nullptr;
  return std::make_shared<DatabasePayloads>(database, names_);
}

JournalStats DiskJournal::stats() const {
  const runtime::MutexLock lock(mutex_);
  JournalStats stats = stats_;
  stats.waiting_changes = noted_ - durable_;
  stats.failing = !failure_.ok();
  return stats;
}

std::uint64_t DiskJournal::OnPut(std::uint64_t number,
                                 const std::shared_ptr<const Content>& content) {
  const runtime::MutexLock lock(mutex_);
  changes_->Put(number, content);
  return NoteLocked(content_delay_);
}

void DiskJournal::OnEvict(std::uint64_t number) {
  const runtime::MutexLock lock(mutex_);
  changes_->Evict(number);
  NoteLocked(kEraseDelay);
}

std::uint64_t DiskJournal::NoteLocked(runtime::Duration delay) {
  if (changes_->bytes() > options_.waiting_bytes / 2) delay = runtime::Duration::zero();
  const runtime::TimePoint now = clock_.Now();
  const bool first = noted_ == taken_;
  ++noted_;
  if (first) waiting_since_ = now;
  if (first || now + delay < due_) {
    due_ = now + delay;
    due_changed_.NotifyAll();
  }
  return noted_;
}

void DiskJournal::Run() {
  rocksdb::WriteBatch batch;
  std::uint64_t position = 0;
  while (TakeDue(batch, position) && WriteUntilDone(batch)) {
    {
      const runtime::MutexLock lock(mutex_);
      durable_ = position;
      requests_changed_.NotifyAll();
    }
    batch = rocksdb::WriteBatch();
    changed_();
  }
}

bool DiskJournal::TakeDue(rocksdb::WriteBatch& batch, std::uint64_t& position) {
  auto taken = std::make_unique<Changes>(*names_);
  {
    const runtime::MutexLock lock(mutex_);
    while (!ending_ && (noted_ == taken_ || clock_.Now() < due_)) {
      if (noted_ == taken_) {
        due_changed_.Wait(mutex_);
      } else {
        clock_.WaitUntil(due_changed_, mutex_, due_);
      }
    }
    if (noted_ == taken_) return false;
    std::swap(changes_, taken);
    position = taken_ = noted_;
    writing_since_ = waiting_since_;
  }
  // As large as it will be, since it would otherwise double as it grows.
  batch = rocksdb::WriteBatch(taken->bytes() + taken->bytes() / 8);
  taken->AddTo(batch, *database());
  return true;
}

bool DiskJournal::WriteUntilDone(rocksdb::WriteBatch& batch) {
  while (true) {
    const absl::Status status = WriteOnce(batch);
    if (status.ok()) return true;
    if (!AwaitRetry(status)) return false;
  }
}

absl::Status DiskJournal::WriteOnce(rocksdb::WriteBatch& batch) {
  const runtime::TimePoint start = clock_.Now();
  std::shared_ptr<Database> database = this->database();
  if (database == nullptr) {
    SHOAL_ASSIGN_OR_RETURN(database,
                           Database::Open(options_.directory, options_.env, options_.journals));
  }
  const absl::Status status = database->Write(batch);
  const runtime::MutexLock lock(mutex_);
  database_ = status.ok() ? database : nullptr;
  if (!status.ok()) return status;
  if (!failure_.ok()) spdlog::info("event=journal_writes_again directory={}", options_.directory);
  failure_ = absl::OkStatus();
  stats_.written_bytes_total += batch.GetDataSize();
  ++stats_.syncs_total;
  stats_.sync_seconds_total += Seconds(clock_.Now() - start);
  return status;
}

bool DiskJournal::AwaitRetry(const absl::Status& failure) {
  {
    const runtime::MutexLock lock(mutex_);
    if (failure_.ok() || ending_) {
      spdlog::error("event=journal_failed waiting_changes={} reason={}", noted_ - durable_,
                    runtime::Quoted(runtime::Message(failure)));
    }
    failure_ = runtime::ResourceExhausted(runtime::Message(failure));
    requests_changed_.NotifyAll();
  }
  changed_();
  const runtime::MutexLock lock(mutex_);
  const runtime::TimePoint again = clock_.Now() + options_.retry;
  while (!ending_ && clock_.WaitUntil(due_changed_, mutex_, again)) {
  }
  return !ending_;
}

void DiskJournal::WhenDurable(std::function<void(const absl::Status&)> done) {
  Enqueue({.position = 0,
           .learner_checkpoint = {},
           .done = [done = std::move(done)](const absl::StatusOr<std::string>& result) {
             done(result.status());
           }});
}

void DiskJournal::Checkpoint(const std::string& learner_checkpoint,
                             std::function<void(const absl::StatusOr<std::string>&)> done) {
  absl::Status status = CheckName(learner_checkpoint);
  if (status.ok() && options_.checkpoints.empty()) {
    status = runtime::FailedPrecondition("there is no folder for checkpoints");
  }
  if (!status.ok()) {
    done(status);
    return;
  }
  Enqueue({.position = 0, .learner_checkpoint = learner_checkpoint, .done = std::move(done)});
}

void DiskJournal::Enqueue(Request request) {
  constexpr std::size_t kMostRequests = 16;
  bool taken = false;
  {
    const runtime::MutexLock lock(mutex_);
    taken = requests_.size() < kMostRequests;
    if (taken) {
      if (!request.learner_checkpoint.empty()) {
        changes_->SetLearnerCheckpoint(request.learner_checkpoint);
        stats_.learner_checkpoint = request.learner_checkpoint;
      }
      request.position = NoteLocked(runtime::Duration::zero());
      requests_.push_back(std::move(request));
      requests_changed_.NotifyAll();
    }
  }
  if (!taken) request.done(runtime::ResourceExhausted("too many checkpoints are asked for"));
}

void DiskJournal::ServeRequests() {
  while (true) {
    Request request;
    absl::Status status;
    {
      const runtime::MutexLock lock(mutex_);
      while (!over_ &&
             (requests_.empty() || (durable_ < requests_.front().position && failure_.ok()))) {
        requests_changed_.Wait(mutex_);
      }
      if (requests_.empty()) return;
      request = std::move(requests_.front());
      requests_.pop_front();
      if (durable_ < request.position) {
        status = failure_.ok() ? runtime::Cancelled("the shard ends") : failure_;
      }
    }
    request.done(status.ok() ? Serve(request) : status);
  }
}

absl::StatusOr<std::string> DiskJournal::Serve(const Request& request) {
  if (request.learner_checkpoint.empty()) return std::string();
  const std::shared_ptr<Database> database = this->database();
  if (database == nullptr) return runtime::ResourceExhausted("the disk fails");
  const std::string directory =
      options_.checkpoints + "/" + request.learner_checkpoint + "/" + NameOf(options_.directory);
  const runtime::TimePoint start = clock_.Now();
  SHOAL_RETURN_IF_ERROR(database->Checkpoint(directory));
  spdlog::info("event=checkpoint_written directory={} seconds={:.3f}", directory,
               Seconds(clock_.Now() - start));
  return directory;
}

}  // namespace shoal::replay::durability
