// SPDX-License-Identifier: Apache-2.0
#include "replay/shard.h"

#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <utility>

namespace shoal::replay {
namespace {

// The environment steps that a table has taken in.
std::uint64_t CountedSteps(const TableStats& stats) {
  return stats.inserted_steps_total - stats.inserted_uncounted_steps_total;
}

// Returns the number of a chunk whose data is on disk, or 0 for another content.
std::uint64_t SpilledNumber(const Content& content) {
  return content.spilled() ? std::get<Chunk>(content.body).number : 0;
}

// Gives the content the data that was read for it.
void TakeData(absl::StatusOr<std::string> data, std::shared_ptr<const Content>& content,
              SampleBatch::Outcome& outcome) {
  if (absl::IsDataLoss(data.status())) outcome = SampleBatch::Outcome::kLost;
  if (!data.ok()) return;
  outcome = SampleBatch::Outcome::kRead;
  content = std::make_shared<const Content>(
      Content{.key = content->key, .body = Chunk{.data = *std::move(data)}});
}

// Gives the sample the payload that was read for it.
void Take(absl::StatusOr<std::string> payload, SampledItem& sample) {
  sample.read = payload.ok();
  // An item that has left the table with this sample cannot be tried again.
  sample.lost = absl::IsDataLoss(payload.status()) || (!payload.ok() && sample.last);
  sample.unread = !payload.ok() && !sample.lost;
  if (payload.ok()) {
    sample.item = std::make_shared<Item>(sample.item->WithPayload(*std::move(payload)));
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<Shard>> Shard::Create(ShardOptions options, runtime::Clock& clock,
                                                     std::unique_ptr<Journal> journal) {
  if (options.tables.empty()) return runtime::InvalidArgument("a shard needs a table");
  std::unique_ptr<Shard> shard(new Shard(std::move(options), clock, std::move(journal)));
  const runtime::MutexLock lock(shard->mutex_);
  if (shard->contents_.bounds_memory() && shard->journal_ == nullptr) {
    return runtime::InvalidArgument("content_memory_bytes needs a disk");
  }
  for (std::size_t i = 0; i < shard->options_.tables.size(); ++i) {
    const TableOptions& table = shard->options_.tables[i];
    if (shard->Index(table.name) != i) {
      return runtime::InvalidArgument("two tables are named " + table.name);
    }
    if (table.memory_bytes > 0 && shard->journal_ == nullptr) {
      return runtime::InvalidArgument("table " + table.name + ": memory_bytes needs a disk");
    }
    SHOAL_ASSIGN_OR_RETURN(auto made, Table::Create(table, shard->contents_));
    made->SetTime(clock.Now());
    shard->tables_.push_back(std::move(made));
  }
  shard->group_epochs_.resize(shard->tables_.size());
  shard->rounds_.resize(shard->tables_.size());
  shard->inserted_.assign(shard->tables_.size(), clock.Now());
  shard->sampled_ = shard->inserted_;
  if (shard->journal_ != nullptr) {
    Shard* const self = shard.get();
    SHOAL_RETURN_IF_ERROR(shard->journal_->Start(shard->contents_, shard->tables_,
                                                 [self] { self->JournalChanged(); }));
    for (const auto& table : shard->tables_) table->TakeEvicted();
  }
  for (const auto& table : shard->tables_) {
    shard->earlier_steps_.push_back(CountedSteps(table->stats()));
  }
  return shard;
}

std::size_t Neighbours(const SampleBatch& batch, std::size_t first) {
  // A longer run of chunks is divided, so that several threads read it.
  constexpr std::size_t kMostChunks = 32;
  std::size_t count = 1;
  if (first >= batch.samples.size()) {
    const auto contents = std::span(batch.contents).subspan(first - batch.samples.size());
    std::uint64_t last = SpilledNumber(*contents[0]);
    for (; count < std::min(contents.size(), kMostChunks); ++count) {
      const std::uint64_t number = SpilledNumber(*contents[count]);
      if (number > 0 && last > 0 && number != last + 1) break;
      if (number > 0) last = number;
    }
    return count;
  }
  for (std::size_t i = first + 1; i < batch.samples.size(); ++i, ++count) {
    const SampledItem& before = batch.samples[i - 1];
    const SampledItem& sample = batch.samples[i];
    if (!before.item->spilled() || !sample.item->spilled()) break;
    if (sample.handle != before.handle + 1) break;
  }
  return count;
}

void ReadParts(SampleBatch& batch, std::size_t first, std::size_t count) {
  if (first >= batch.samples.size()) {
    first -= batch.samples.size();
    std::vector<std::size_t> places;
    std::vector<std::uint64_t> numbers;
    for (std::size_t i = first; i < first + count; ++i) {
      const std::uint64_t number = SpilledNumber(*batch.contents[i]);
      if (number == 0) continue;
      places.push_back(i);
      numbers.push_back(number);
    }
    if (numbers.empty()) return;
    auto chunks = batch.payloads->ReadChunks(numbers);
    for (std::size_t i = 0; i < places.size(); ++i) {
      TakeData(std::move(chunks[i]), batch.contents[places[i]], batch.outcomes[places[i]]);
    }
    return;
  }
  std::vector<SampledItem*> samples;
  std::vector<Handle> handles;
  for (SampledItem& sample : std::span(batch.samples).subspan(first, count)) {
    if (!sample.item->spilled()) continue;
    samples.push_back(&sample);
    handles.push_back(sample.handle);
  }
  if (samples.empty()) return;
  auto payloads = batch.payloads->Read(batch.table, handles);
  for (std::size_t i = 0; i < samples.size(); ++i) Take(std::move(payloads[i]), *samples[i]);
}

Shard::Shard(ShardOptions options, runtime::Clock& clock, std::unique_ptr<Journal> journal)
    : options_(std::move(options)),
      clock_(clock),
      contents_(options_.contents),
      journal_(std::move(journal)) {}

absl::Status Shard::Ready(std::size_t table) const {
  return journal_ == nullptr ? absl::OkStatus() : journal_->Ready(table);
}

std::vector<std::shared_ptr<Item>> Shard::TakeFreedLocked(Table& table) {
  std::vector<std::shared_ptr<Item>> freed = table.TakeEvicted();
  if (table.options().memory_bytes == 0) return freed;
  for (auto& item : table.DropWritten(journal_->durable())) freed.push_back(std::move(item));
  return freed;
}

void Shard::JournalChanged() {
  std::vector<std::vector<std::shared_ptr<Item>>> freed;
  std::vector<std::shared_ptr<const Content>> dropped;
  const runtime::MutexLock lock(mutex_);
  for (const auto& table : tables_) freed.push_back(TakeFreedLocked(*table));
  if (contents_.bounds_memory()) dropped = contents_.DropWritten(journal_->durable());
  ChangedLocked();
}

std::uint64_t Shard::AcknowledgedAt(std::string_view table) const {
  return journal_ == nullptr ? 0 : journal_->AcknowledgedAt(Index(table));
}

std::uint64_t Shard::durable() const { return journal_ == nullptr ? 0 : journal_->durable(); }

absl::StatusOr<std::size_t> Shard::Exclude(const VersionRange& range) {
  if (range.last < range.first) {
    return runtime::InvalidArgument("version " + parameters::ToString(range.last) +
                                    " is older than version " + parameters::ToString(range.first));
  }
  std::vector<std::shared_ptr<Item>> evicted;
  const runtime::MutexLock lock(mutex_);
  for (const auto& table : tables_) SHOAL_RETURN_IF_ERROR(table->CheckExclude(range));
  for (const auto& table : tables_) {
    table->Exclude(range);
    for (auto& item : table->TakeEvicted()) evicted.push_back(std::move(item));
  }
  ChangedLocked();
  return evicted.size();
}

void Shard::WhenDurable(std::function<void(const absl::Status&)> done) {
  if (journal_ == nullptr) {
    done(absl::OkStatus());
  } else {
    journal_->WhenDurable(std::move(done));
  }
}

void Shard::Checkpoint(const std::string& learner_checkpoint,
                       std::function<void(const absl::StatusOr<std::string>&)> done) {
  if (journal_ == nullptr) {
    done(runtime::FailedPrecondition("no table of this shard is durable"));
  } else {
    journal_->Checkpoint(learner_checkpoint, std::move(done));
  }
}

std::size_t Shard::Index(std::string_view table) const {
  std::size_t i = 0;
  while (i < options_.tables.size() && options_.tables[i].name != table) ++i;
  return i;
}

absl::Status Shard::Put(Content&& content) {
  std::vector<std::shared_ptr<Item>> evicted;
  std::vector<std::shared_ptr<const Content>> dropped;
  const runtime::MutexLock lock(mutex_);
  absl::Status status = contents_.Put(std::move(content));
  if (contents_.bounds_memory()) {
    dropped = contents_.DropWritten(journal_->durable());
    if (!dropped.empty() && absl::IsResourceExhausted(status)) {
      status = contents_.Put(std::move(content));
    }
  }
  while (absl::IsResourceExhausted(status) && !contents_.waits_for_disk()) {
    Table* const table = EvictOneLocked();
    if (table == nullptr) return status;
    for (auto& item : table->TakeEvicted()) evicted.push_back(std::move(item));
    status = contents_.Put(std::move(content));
    ChangedLocked();
  }
  return status;
}

Table* Shard::EvictOneLocked() {
  std::vector<Table*> largest_first;
  for (const auto& table : tables_) largest_first.push_back(table.get());
  std::sort(largest_first.begin(), largest_first.end(),
            [](const Table* a, const Table* b) { return a->stats().bytes > b->stats().bytes; });
  for (Table* const table : largest_first) {
    if (table->EvictOne()) return table;
  }
  return nullptr;
}

std::vector<Key> Shard::Missing(const Item& item) const {
  const runtime::MutexLock lock(mutex_);
  return contents_.Missing(item);
}

bool Shard::ContentsFull() const {
  const runtime::MutexLock lock(mutex_);
  return contents_.full();
}

absl::Status Shard::Insert(std::string_view table, std::shared_ptr<Item>& item) {
  const std::size_t index = Index(table);
  if (index == options_.tables.size()) {
    return runtime::FailedPrecondition("no table is named " + std::string(table));
  }
  SHOAL_RETURN_IF_ERROR(Ready(index));
  std::vector<std::shared_ptr<Item>> freed;
  const runtime::MutexLock lock(mutex_);
  tables_[index]->SetTime(clock_.Now());
  const absl::Status status = tables_[index]->Insert(item);
  freed = TakeFreedLocked(*tables_[index]);
  if (status.ok()) inserted_[index] = clock_.Now();
  if (status.ok() || !freed.empty()) ChangedLocked();
  return status;
}

void Shard::EndRound(std::string_view table, const PolicyVersion& played) {
  const std::size_t index = Index(table);
  const runtime::MutexLock lock(mutex_);
  rounds_[index] = std::max(rounds_[index], played);
  ChangedLocked();
}

bool Shard::HasRoundOf(std::string_view table, const PolicyVersion& played) const {
  const std::size_t index = Index(table);
  const runtime::MutexLock lock(mutex_);
  return rounds_[index] >= played;
}

absl::Status Shard::Admit(std::string_view table, const Signature& signature) {
  const std::size_t index = Index(table);
  if (index == options_.tables.size()) {
    return runtime::FailedPrecondition("no table is named " + std::string(table));
  }
  const runtime::MutexLock lock(mutex_);
  return tables_[index]->Admit(signature);
}

absl::StatusOr<bool> Shard::CheckReader(std::string_view table, const Signature& reader) const {
  const std::size_t index = Index(table);
  const runtime::MutexLock lock(mutex_);
  const Signature* const signature = tables_[index]->signature();
  if (signature == nullptr) return false;
  const absl::Status status = signature->CheckReader(reader);
  if (!status.ok()) return runtime::Annotate(status, "table " + std::string(table));
  return true;
}

void Shard::AddHooks(std::string_view table, TableHooks& hooks) {
  const std::size_t index = Index(table);
  const runtime::MutexLock lock(mutex_);
  tables_[index]->AddHooks(hooks);
}

absl::Status Shard::Change(const TableOptions& options) {
  const std::size_t index = Index(options.name);
  if (index == options_.tables.size()) {
    return runtime::NotFound("no table is named " + options.name);
  }
  std::vector<std::shared_ptr<Item>> freed;
  const runtime::MutexLock lock(mutex_);
  const absl::Status status = tables_[index]->Change(options, clock_.Now());
  freed = TakeFreedLocked(*tables_[index]);
  ChangedLocked();
  return status;
}

std::vector<TableState> Shard::tables() const {
  std::vector<TableState> states;
  const runtime::MutexLock lock(mutex_);
  const runtime::TimePoint now = clock_.Now();
  for (std::size_t i = 0; i < tables_.size(); ++i) {
    const Table& table = *tables_[i];
    states.push_back({.options = table.options(),
                      .stats = table.stats(),
                      .insert_wait = table.insert_wait(),
                      .sample_wait = SampleWaitLocked(table),
                      .since_insert = now - inserted_[i],
                      .since_sample = now - sampled_[i],
                      .signature = table.signature() ? table.signature()->Text() : std::string()});
  }
  return states;
}

bool Shard::RequiresSignature(std::string_view table) const {
  const std::size_t index = Index(table);
  return index < options_.tables.size() && options_.tables[index].signature.has_value();
}

std::size_t Shard::Update(std::string_view table, std::span<const PriorityUpdate> updates) {
  const std::size_t index = Index(table);
  std::size_t updated = 0;
  const runtime::MutexLock lock(mutex_);
  for (const PriorityUpdate& update : updates) {
    updated += tables_[index]->Update(update.id, update.priority).ok() ? 1 : 0;
  }
  return updated;
}

std::size_t Shard::Room(std::string_view table) {
  const std::size_t index = Index(table);
  if (index == options_.tables.size()) return 0;
  std::vector<std::shared_ptr<Item>> evicted;
  const runtime::MutexLock lock(mutex_);
  tables_[index]->SetTime(clock_.Now());
  evicted = tables_[index]->TakeEvicted();
  if (!evicted.empty()) ChangedLocked();
  return Ready(index).ok() ? tables_[index]->room() : 0;
}

absl::StatusOr<int> Shard::OpenReader() {
  const runtime::MutexLock lock(mutex_);
  return contents_.OpenReader();
}

void Shard::CloseReader(int reader) {
  const runtime::MutexLock lock(mutex_);
  contents_.CloseReader(reader);
}

void Shard::Forget(int reader, std::span<const Key> keys) {
  const runtime::MutexLock lock(mutex_);
  for (const Key& key : keys) contents_.Forget(reader, key);
}

absl::Status Shard::JoinGroup(std::string_view table, std::uint64_t epoch) {
  const std::size_t index = Index(table);
  const runtime::MutexLock lock(mutex_);
  std::uint64_t& latest = group_epochs_[index];
  if (epoch < latest) {
    return runtime::FailedPrecondition(
        "table " + std::string(table) + ": a learner group of epoch " + std::to_string(latest) +
        " samples from it, this one is of epoch " + std::to_string(epoch));
  }
  if (epoch > latest) ChangedLocked();
  latest = epoch;
  return absl::OkStatus();
}

SampleBatch Shard::Sample(std::string_view table, int reader, std::size_t max_items,
                          std::size_t max_bytes) {
  std::vector<std::shared_ptr<Item>> evicted;
  SampleBatch batch;
  // The last owner of a database closes it, which may take long, so not under the lock.
  std::shared_ptr<const SpilledPayloads> payloads;
  std::size_t bytes = 0;
  const std::size_t index = Index(table);
  const runtime::MutexLock lock(mutex_);
  Table& source = *tables_[index];
  source.SetTime(clock_.Now());
  evicted = source.TakeEvicted();
  batch.table = index;
  batch.reader = reader;
  batch.sampled = clock_.Now();
  // Taken first, so that it has the payloads of all items that are in the table now.
  const TableStats stats = source.stats();
  const bool spilled = stats.disk_bytes > 0 || contents_.disk_bytes() > 0;
  if (spilled) payloads = journal_->Payloads();
  if (spilled && payloads == nullptr) return batch;
  while (batch.samples.size() < max_items && bytes < max_bytes) {
    std::optional<SampledItem> sample = source.Sample();
    if (!sample) break;
    const std::size_t before = batch.contents.size();
    contents_.Collect(*sample->item, reader, batch.contents);
    source.ReleaseSample(*sample);
    bytes += sample->item->payload_bytes();
    if (sample->item->spilled()) batch.payloads = payloads;
    for (std::size_t i = before; i < batch.contents.size(); ++i) {
      bytes += batch.contents[i]->bytes();
      if (batch.contents[i]->spilled()) batch.payloads = payloads;
    }
    batch.samples.push_back(*std::move(sample));
  }
  if (batch.payloads != nullptr) batch.outcomes.resize(batch.contents.size());
  if (!batch.samples.empty()) sampled_[index] = clock_.Now();
  if (!batch.samples.empty() || !evicted.empty()) ChangedLocked();
  batch.left = source.mass();
  batch.inserted_steps = CountedSteps(stats) - earlier_steps_[index];
  if (journal_ != nullptr) batch.durable_at = journal_->SampledAt(index);
  return batch;
}

void Shard::ForgetUnreadLocked(SampleBatch& batch) {
  absl::flat_hash_map<Key, bool, KeyHash> unread;
  for (std::size_t i = 0; i < batch.contents.size(); ++i) {
    if (!batch.contents[i]->spilled()) continue;
    const bool lost = batch.outcomes[i] == SampleBatch::Outcome::kLost;
    if (lost) contents_.Lose(*batch.contents[i]);
    unread.emplace(batch.contents[i]->key, lost);
    contents_.Forget(batch.reader, batch.contents[i]->key);
  }
  if (unread.empty()) return;
  std::erase_if(batch.contents, [](const auto& content) { return content->spilled(); });
  for (SampledItem& sample : batch.samples) {
    if (sample.item->keys == nullptr) continue;
    for (const Key& key : sample.item->keys->chunks) {
      const auto found = unread.find(key);
      if (found == unread.end()) continue;
      // An item that has left the table with this sample cannot be tried again.
      sample.lost = sample.lost || found->second || sample.last;
      sample.unread = !sample.lost;
    }
  }
}

bool Shard::FinishReads(SampleBatch& batch) {
  batch.payloads = nullptr;
  std::vector<std::shared_ptr<Item>> evicted;
  const runtime::MutexLock lock(mutex_);
  ForgetUnreadLocked(batch);
  Table& table = *tables_[batch.table];
  auto reads =
      static_cast<std::size_t>(std::ranges::count(batch.outcomes, SampleBatch::Outcome::kRead) +
                               std::ranges::count(batch.outcomes, SampleBatch::Outcome::kLost));
  bool unread = false;
  for (const SampledItem& sample : batch.samples) {
    unread = unread || sample.unread;
    reads += sample.read || sample.lost ? 1 : 0;
    if (sample.lost) table.Lose(sample.handle);
  }
  table.CountReads(reads, clock_.Now() - batch.sampled);
  evicted = table.TakeEvicted();
  std::erase_if(batch.samples,
                [](const SampledItem& sample) { return sample.lost || sample.unread; });
  if (!evicted.empty()) ChangedLocked();
  return unread;
}

Mass Shard::MassOf(std::string_view table) const {
  const std::size_t index = Index(table);
  const runtime::MutexLock lock(mutex_);
  return tables_[index]->mass();
}

bool Shard::DrawsAtRandom(std::string_view table) const {
  return replay::DrawsAtRandom(options_.tables[Index(table)].sampler);
}

void Shard::SetCurrentVersion(std::string_view table, const PolicyVersion& current,
                              std::uint32_t max_lag) {
  std::vector<std::shared_ptr<Item>> evicted;
  const std::size_t index = Index(table);
  const runtime::MutexLock lock(mutex_);
  tables_[index]->SetCurrentVersion(current, max_lag);
  evicted = tables_[index]->TakeEvicted();
  if (!evicted.empty()) ChangedLocked();
}

std::uint64_t Shard::AwaitChange(std::uint64_t seen, runtime::Duration timeout) {
  const runtime::TimePoint deadline = clock_.Now() + timeout;
  const runtime::MutexLock lock(mutex_);
  while (!closed_ && changes_ == seen) {
    if (!clock_.WaitUntil(changed_, mutex_, deadline)) break;
  }
  return changes_;
}

void Shard::Notify() {
  const runtime::MutexLock lock(mutex_);
  ChangedLocked();
}

void Shard::Close() {
  const runtime::MutexLock lock(mutex_);
  closed_ = true;
  changed_.NotifyAll();
}

bool Shard::closed() const {
  const runtime::MutexLock lock(mutex_);
  return closed_;
}

ShardStats Shard::stats() const {
  ShardStats stats;
  const runtime::MutexLock lock(mutex_);
  for (const auto& table : tables_) stats.tables.push_back(table->stats());
  stats.content_count = contents_.size();
  stats.content_bytes = contents_.bytes();
  stats.unused_content_bytes = contents_.unused_bytes();
  stats.chunk_count = contents_.chunks();
  stats.chunk_bytes = contents_.chunk_bytes();
  stats.content_disk_bytes = contents_.disk_bytes();
  if (journal_ != nullptr) stats.journal = journal_->stats();
  return stats;
}

Wait Shard::SampleWait(std::string_view table) const {
  const std::size_t index = Index(table);
  const runtime::MutexLock lock(mutex_);
  return SampleWaitLocked(*tables_[index]);
}

Wait Shard::SampleWaitLocked(const Table& table) const {
  const bool on_disk = table.stats().disk_bytes > 0 || contents_.disk_bytes() > 0;
  const bool unreadable = on_disk && !journal_->readable();
  return unreadable ? Wait::kDisk : table.sample_wait();
}

void Shard::ChangedLocked() {
  ++changes_;
  changed_.NotifyAll();
}

}  // namespace shoal::replay
