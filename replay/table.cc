// SPDX-License-Identifier: Apache-2.0
#include "replay/table.h"

#include <algorithm>
#include <chrono>
#include <iterator>

namespace shoal::replay {
namespace {

// The most bytes of payloads that a spill is given before it has written others.
constexpr std::size_t kMostWritingBytes = std::size_t{16} << 20;

std::uint64_t Microseconds(runtime::Duration duration) {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(duration).count());
}

std::unique_ptr<Selector> Make(SelectorKind kind, const TableOptions& options, std::uint64_t seed) {
  return MakeSelector(kind, {.priority_exponent = options.priority_exponent, .seed = seed});
}

std::unique_ptr<Selector> MakeRemover(const TableOptions& options) {
  // The remover's random choices must be independent of the sampler's.
  return options.remover ? Make(*options.remover, options, ~options.seed) : nullptr;
}

absl::Status Check(const TableOptions& options) {
  const auto invalid = [&options](const std::string& what) {
    return runtime::InvalidArgument("table " + options.name + ": " + what);
  };
  if (options.name.find('\0') != std::string::npos) return invalid("the name holds a zero byte");
  if (options.name.empty()) return runtime::InvalidArgument("a table has no name");
  if (options.max_size == 0) return invalid("max_size must be at least 1");
  if (options.limiter.min_size > options.max_size) {
    return invalid("min_size " + std::to_string(options.limiter.min_size) + " is above max_size " +
                   std::to_string(options.max_size));
  }
  if (options.max_times_sampled > 0 &&
      options.limiter.samples_per_insert > options.max_times_sampled) {
    return invalid("samples_per_insert is above max_times_sampled");
  }
  if (!(options.priority_exponent >= 0 && options.priority_exponent <= kMaxPriorityExponent)) {
    return invalid("priority_exponent must be between 0 and " +
                   std::to_string(kMaxPriorityExponent));
  }
  if (options.max_times_sampled == 0 && !options.remover && options.max_staleness == 0 &&
      options.max_age == runtime::Duration::zero()) {
    return invalid(
        "no item would ever leave: max_times_sampled, max_staleness or max_age_seconds must be "
        "above 0, or there must be a remover");
  }
  return absl::OkStatus();
}

// Checks that `next` changes only what may change while a table is in use.
absl::Status CheckChange(const TableOptions& options, const TableOptions& next) {
  const auto fixed = [&options](bool same, const char* knob) {
    if (same) return absl::OkStatus();
    return runtime::InvalidArgument("table " + options.name + ": " + knob +
                                    " cannot be changed while the table is in use");
  };
  SHOAL_RETURN_IF_ERROR(fixed(next.name == options.name, "name"));
  SHOAL_RETURN_IF_ERROR(fixed(next.sampler == options.sampler, "sampler"));
  SHOAL_RETURN_IF_ERROR(fixed(next.remover == options.remover, "remover"));
  SHOAL_RETURN_IF_ERROR(
      fixed(next.priority_exponent == options.priority_exponent, "priority_exponent"));
  SHOAL_RETURN_IF_ERROR(fixed(next.id_window == options.id_window, "id_window"));
  SHOAL_RETURN_IF_ERROR(fixed(next.durability == options.durability, "durability"));
  SHOAL_RETURN_IF_ERROR(
      fixed((next.memory_bytes == 0) == (options.memory_bytes == 0), "memory_bytes from or to 0"));
  SHOAL_RETURN_IF_ERROR(fixed(next.batch_window == options.batch_window, "batch_window_ms"));
  return fixed(next.seed == options.seed, "seed");
}

}  // namespace

absl::StatusOr<std::unique_ptr<Table>> Table::Create(TableOptions options, ContentStore& contents) {
  SHOAL_RETURN_IF_ERROR(Check(options));
  return std::unique_ptr<Table>(new Table(std::move(options), contents));
}

Table::Table(TableOptions options, ContentStore& contents)
    : options_(std::move(options)),
      sampler_(Make(options_.sampler, options_, options_.seed)),
      remover_(MakeRemover(options_)),
      contents_(contents),
      limiter_(options_.limiter),
      signature_(options_.signature ? std::make_shared<const Signature>(*options_.signature)
                                    : nullptr),
      seen_(options_.id_window) {}

absl::Status Table::Change(const TableOptions& options, runtime::TimePoint now) {
  SHOAL_RETURN_IF_ERROR(Check(options));
  SHOAL_RETURN_IF_ERROR(CheckChange(options_, options));
  limiter_.Change(options.limiter, CreditUnder(options));
  options_ = options;
  std::vector<Handle> used;
  for (const auto& [handle, stored] : items_) {
    if (options_.max_times_sampled > 0 && stored.times_sampled >= options_.max_times_sampled) {
      used.push_back(handle);
    }
  }
  std::sort(used.begin(), used.end());
  for (const Handle handle : used) Evict(handle);
  stats_.evicted_used_total += used.size();
  EvictStale();
  SetTime(now);
  while (items_.size() > options_.max_size || stats_.bytes > options_.max_bytes) {
    if (!EvictOne()) break;
  }
  SpillSome();
  out_of_bytes_ = false;
  hooks_.OnChange();
  return absl::OkStatus();
}

double Table::CreditUnder(const TableOptions& next) const {
  const double ratio = next.limiter.samples_per_insert;
  if (ratio == limiter_.options().samples_per_insert) return limiter_.credit();
  double credit = 0;
  for (const auto& [handle, stored] : items_) credit += CreditOf(stored, next);
  return credit;
}

double Table::CreditOf(const StoredItem& stored, const TableOptions& options) {
  if (options.max_times_sampled == 0) return 0;
  const double left = options.limiter.samples_per_insert - stored.times_sampled;
  return std::max(0.0, left) * stored.item->steps;
}

absl::Status Table::Insert(std::shared_ptr<Item>& item) {
  if (seen_.Contains(item->id) || index_.Find(item->id)) {
    ++stats_.duplicates_total;
    hooks_.OnChange();
    item.reset();
    return absl::OkStatus();
  }
  if (IsStale(item->oldest_version, current_version_, max_lag())) {
    ++stats_.evicted_stale_total;
    seen_.Add(item->id);
    hooks_.OnSeen(item->id);
    item.reset();
    return absl::OkStatus();
  }
  SHOAL_RETURN_IF_ERROR(CheckVersions(*item));
  SHOAL_RETURN_IF_ERROR(CheckFits(*item));
  SHOAL_RETURN_IF_ERROR(CheckRoom(*item));
  SHOAL_RETURN_IF_ERROR(contents_.Acquire(*item));
  MakeRoom(item->bytes());
  limiter_.Inserted(item->steps);
  ++stats_.inserted_total;
  stats_.inserted_steps_total += item->steps;
  stats_.inserted_uncounted_steps_total += item->uncounted_steps;
  seen_.Add(item->id);
  const Handle handle = next_handle_++;
  const float priority = item->priority;
  const StoredItem stored{.item = std::move(item), .priority = priority, .came = now_};
  Store(handle, stored);
  hooks_.OnInsert(handle, stored.item);
  SpillSome();
  return absl::OkStatus();
}

absl::Status Table::Admit(const Signature& signature) {
  auto both = std::make_shared<Signature>(signature_ == nullptr ? signature : *signature_);
  const absl::Status status = both->Admit(signature);
  if (status.ok()) {
    signature_ = std::move(both);
  } else {
    ++stats_.refused_signatures_total;
  }
  hooks_.OnChange();
  return status.ok() ? status : runtime::Annotate(status, "table " + options_.name);
}

absl::Status Table::RestoreSignature(const Signature& signature) {
  return items_.empty() ? absl::OkStatus() : Admit(signature);
}

void Table::Store(Handle handle, const StoredItem& stored) {
  const Item& item = *stored.item;
  stats_.bytes += item.bytes();
  stats_.memory_bytes += item.bytes();
  if (options_.memory_bytes > 0) unspilled_.insert(handle);
  sampler_->Insert(handle, stored.priority);
  if (remover_) remover_->Insert(handle, stored.priority);
  by_version_.emplace(item.oldest_version, handle);
  items_.emplace(handle, stored);
  index_.Add(handle);
}

absl::Status Table::CheckVersions(const Item& item) const {
  if (excluded_ == nullptr) return absl::OkStatus();
  for (const VersionRange& range : *excluded_) {
    if (!range.Touches(item.oldest_version, item.newest_version)) continue;
    return runtime::FailedPrecondition("table " + options_.name + ": versions " +
                                       parameters::ToString(range.first) + " to " +
                                       parameters::ToString(range.last) + " are excluded");
  }
  return absl::OkStatus();
}

absl::Status Table::CheckExclude(const VersionRange& range) const {
  if (With(excluded_, range)->size() <= kMostExcludedRanges) return absl::OkStatus();
  return runtime::ResourceExhausted("table " + options_.name + " excludes " +
                                    std::to_string(kMostExcludedRanges) + " ranges already");
}

void Table::Exclude(const VersionRange& range) {
  ExcludedVersions excluded = With(excluded_, range);
  if (excluded_ != nullptr && *excluded == *excluded_) return;
  excluded_ = std::move(excluded);
  std::vector<Handle> touched;
  for (const auto& [version, handle] : by_version_) {
    const Item& item = *items_.at(handle).item;
    if (range.Touches(item.oldest_version, item.newest_version)) touched.push_back(handle);
  }
  stats_.evicted_excluded_total += touched.size();
  for (const Handle handle : touched) Evict(handle);
  hooks_.OnChange();
}

absl::Status Table::CheckFits(const Item& item) {
  const std::size_t bytes = item.bytes();
  if (bytes > options_.max_bytes) {
    return runtime::InvalidArgument("the item has " + std::to_string(bytes) + " bytes, table " +
                                    options_.name + " holds " + std::to_string(options_.max_bytes));
  }
  return absl::OkStatus();
}

absl::Status Table::CheckRoom(const Item& item) {
  const std::size_t bytes = item.bytes();
  if (!remover_ && items_.size() >= options_.max_size) {
    ++stats_.full_items_total;
    return runtime::ResourceExhausted("table " + options_.name + " holds " +
                                      std::to_string(items_.size()) + " items, its max_size");
  }
  if (!remover_ && stats_.bytes + bytes > options_.max_bytes) {
    ++stats_.full_bytes_total;
    out_of_bytes_ = true;
    return runtime::ResourceExhausted("table " + options_.name + " has no room for " +
                                      std::to_string(bytes) + " bytes");
  }
  if (OutOfMemory(bytes)) {
    ++stats_.full_memory_total;
    return runtime::ResourceExhausted("table " + options_.name + " has " +
                                      std::to_string(stats_.memory_bytes) +
                                      " bytes in memory, and " + std::to_string(writing_bytes_) +
                                      " of them wait to be written to disk");
  }
  if (!limiter_.MayInsert(items_.size())) {
    ++stats_.inserts_ahead_total;
    return runtime::ResourceExhausted("table " + options_.name + " is ahead of its samples");
  }
  return absl::OkStatus();
}

void Table::MakeRoom(std::size_t bytes) {
  while (items_.size() >= options_.max_size || stats_.bytes + bytes > options_.max_bytes) {
    if (!EvictOne()) return;
  }
}

bool Table::EvictOne() {
  if (!remover_ || items_.empty()) return false;
  ++stats_.evicted_for_room_total;
  Evict(remover_->Sample().handle);
  return true;
}

absl::Status Table::Update(const UnrollId& id, float priority) {
  const std::optional<Handle> handle = index_.Find(id);
  if (!handle) {
    return runtime::NotFound("table " + options_.name + " does not have the item");
  }
  StoredItem& stored = items_.at(*handle);
  stored.priority = priority;
  sampler_->Update(*handle, priority);
  if (remover_) remover_->Update(*handle, priority);
  ++stats_.priority_updates_total;
  hooks_.OnUpdate(*handle, priority, stored.times_sampled);
  return absl::OkStatus();
}

std::optional<SampledItem> Table::Sample() {
  switch (sample_wait()) {
    case Wait::kMinSize:
      ++stats_.below_min_size_total;
      return std::nullopt;
    case Wait::kSamplesPerInsert:
      ++stats_.samples_ahead_total;
      return std::nullopt;
    default:
      break;
  }
  const Choice choice = sampler_->Sample();
  StoredItem& stored = items_.at(choice.handle);
  SampledItem sample{.item = stored.item,
                     .handle = choice.handle,
                     .priority = stored.priority,
                     .probability = choice.probability,
                     .table_size = items_.size(),
                     .times_sampled = ++stored.times_sampled,
                     .hooked = !hooks_.empty() || stored.written};
  limiter_.Sampled(stored.item->steps);
  stats_.sampled_lag_total += LagOf(stored.item->oldest_version);
  stats_.sampled_age_us_total += Microseconds(now_ - stored.came);
  ++stats_.sampled_total;
  stats_.sampled_steps_total += stored.item->steps;
  hooks_.OnSample(choice.handle, stored.priority, stored.times_sampled);
  if (options_.max_times_sampled > 0 && stored.times_sampled >= options_.max_times_sampled) {
    sample.last = true;
    Remove(choice.handle);
  }
  return sample;
}

void Table::ReleaseSample(const SampledItem& sample) {
  if (sample.last) contents_.Release(*sample.item);
}

std::shared_ptr<Item> Table::Remove(Handle handle) {
  const auto found = items_.find(handle);
  index_.Remove(handle);
  const StoredItem stored = std::move(found->second);
  items_.erase(found);
  by_version_.erase({stored.item->oldest_version, handle});
  sampler_->Remove(handle);
  if (remover_) remover_->Remove(handle);
  if (options_.max_times_sampled > 0) limiter_.Removed(stored.item->steps, stored.times_sampled);
  stats_.bytes -= stored.item->bytes();
  stats_.memory_bytes -= stored.item->bytes() - stored.item->spilled_bytes;
  stats_.disk_bytes -= stored.item->spilled_bytes;
  if (!stored.written) {
    unspilled_.erase(handle);
  } else {
    writing_bytes_ -= stored.item->payload.size();
    if (spill_ != nullptr) spill_->Erase(handle);
  }
  out_of_bytes_ = false;
  hooks_.OnDelete(handle);
  return stored.item;
}

void Table::Evict(Handle handle) {
  std::shared_ptr<Item> item = Remove(handle);
  contents_.Release(*item);
  evicted_.push_back(std::move(item));
}

bool Table::OutOfMemory(std::size_t bytes) const {
  return writing_bytes_ > 0 && stats_.memory_bytes + bytes > options_.memory_bytes;
}

void Table::SpillSome() {
  if (options_.memory_bytes == 0) return;
  const std::size_t target =
      options_.memory_bytes - std::min(options_.memory_bytes / 8, kMostWritingBytes);
  while (!unspilled_.empty() && stats_.memory_bytes - writing_bytes_ > target) {
    const bool newest_first = options_.sampler == SelectorKind::kFifo;
    const auto place = newest_first ? std::prev(unspilled_.end()) : unspilled_.begin();
    const Handle handle = *place;
    StoredItem& stored = items_.at(handle);
    unspilled_.erase(place);
    stored.written = true;
    writing_bytes_ += stored.item->payload.size();
    writing_.emplace_back(spill_ == nullptr ? 0 : spill_->Write(handle, stored.item), handle);
  }
}

std::vector<std::shared_ptr<Item>> Table::DropWritten(std::uint64_t durable) {
  std::vector<std::shared_ptr<Item>> dropped;
  while (!writing_.empty() && writing_.front().first <= durable) {
    const auto found = items_.find(writing_.front().second);
    writing_.pop_front();
    if (found != items_.end()) dropped.push_back(DropPayload(found->second));
  }
  return dropped;
}

std::shared_ptr<Item> Table::DropPayload(StoredItem& stored) {
  const std::size_t bytes = stored.item->payload.size();
  writing_bytes_ -= bytes;
  stats_.memory_bytes -= bytes;
  stats_.disk_bytes += bytes;
  return std::exchange(stored.item, std::make_shared<Item>(stored.item->WithoutPayload()));
}

void Table::CountReads(std::size_t reads, runtime::Duration wait) {
  stats_.reads_total += reads;
  stats_.read_wait_us_total += Microseconds(wait);
}

void Table::Lose(Handle handle) {
  ++stats_.lost_total;
  if (items_.contains(handle)) Evict(handle);
  hooks_.OnChange();
}

std::uint32_t Table::max_lag() const {
  const std::uint32_t own = options_.max_staleness;
  return own == 0 || stream_max_lag_ == 0 ? own + stream_max_lag_ : std::min(own, stream_max_lag_);
}

void Table::SetCurrentVersion(const PolicyVersion& current, std::uint32_t max_lag) {
  if (current < current_version_) return;
  const bool changed = current_version_ < current || stream_max_lag_ != max_lag;
  current_version_ = current;
  stream_max_lag_ = max_lag;
  if (changed) hooks_.OnChange();
  EvictStale();
}

void Table::EvictStale() {
  while (!by_version_.empty() && IsStale(by_version_.begin()->first, current_version_, max_lag())) {
    ++stats_.evicted_stale_total;
    Evict(by_version_.begin()->second);
  }
}

void Table::SetTime(runtime::TimePoint now) {
  now_ = now;
  if (options_.max_age == runtime::Duration::zero()) return;
  while (!items_.empty() && now - items_.begin()->second.came > options_.max_age) {
    ++stats_.evicted_old_total;
    Evict(items_.begin()->first);
  }
}

std::size_t Table::room() const {
  if (!limiter_.MayInsert(items_.size())) return 0;
  if (OutOfMemory(MeanBytes())) return 0;
  if (remover_) return options_.max_size;
  if (items_.size() >= options_.max_size) return 0;
  return std::min(options_.max_size - items_.size(), RoomByBytes());
}

Wait Table::insert_wait() const {
  if (contents_.waits_for_disk()) return Wait::kMemory;
  if (contents_.full()) return Wait::kContents;
  if (!limiter_.MayInsert(items_.size())) return Wait::kSamplesPerInsert;
  if (OutOfMemory(MeanBytes())) return Wait::kMemory;
  if (remover_) return Wait::kNone;
  if (items_.size() >= options_.max_size) return Wait::kMaxSize;
  return out_of_bytes_ || RoomByBytes() == 0 ? Wait::kMaxBytes : Wait::kNone;
}

Wait Table::sample_wait() const {
  if (items_.empty()) return Wait::kMinSize;
  if (!limiter_.HoldsEnough(items_.size()) && !Full()) return Wait::kMinSize;
  return limiter_.MaySample() || Full() ? Wait::kNone : Wait::kSamplesPerInsert;
}

std::string_view NameOf(Wait wait) {
  switch (wait) {
    case Wait::kNone:
      return "";
    case Wait::kMaxSize:
      return "max_size";
    case Wait::kMaxBytes:
      return "max_bytes";
    case Wait::kMemory:
      return "memory_bytes";
    case Wait::kContents:
      return "contents";
    case Wait::kMinSize:
      return "min_size";
    case Wait::kSamplesPerInsert:
      return "samples_per_insert";
    case Wait::kDisk:
      return "disk";
  }
  return "";
}

std::uint64_t Table::LagOf(const PolicyVersion& version) const {
  if (version.epoch != current_version_.epoch) return 0;
  return current_version_.step - std::min(current_version_.step, version.step);
}

Mass Table::mass() const {
  return limiter_.HoldsEnough(items_.size()) || Full() ? sampler_->mass() : Mass{};
}

bool Table::Full() const {
  // While the disk is about to make room, inserts go on soon.
  if (contents_.full() && !contents_.waits_for_disk()) return true;
  if (remover_) return false;
  return items_.size() >= options_.max_size || out_of_bytes_ || RoomByBytes() == 0;
}

std::size_t Table::RoomByBytes() const {
  if (items_.empty()) return options_.max_size;
  return (options_.max_bytes - std::min(options_.max_bytes, stats_.bytes)) / MeanBytes();
}

std::size_t Table::MeanBytes() const {
  return items_.empty() ? 1 : std::max<std::size_t>(1, stats_.bytes / items_.size());
}

TableStats Table::stats() const {
  TableStats stats = stats_;
  stats.size = items_.size();
  stats.credit = limiter_.credit();
  if (!by_version_.empty()) stats.oldest_lag = LagOf(by_version_.begin()->first);
  return stats;
}

TableRecord Table::record() const {
  return {.next_handle = next_handle_,
          .credit = limiter_.credit(),
          .current_version = current_version_,
          .stream_max_lag = stream_max_lag_,
          .excluded = excluded_,
          .signature = signature_,
          .samples_per_insert = options_.limiter.samples_per_insert,
          .stats = stats_};
}

void Table::Restore(const TableRecord& record) {
  next_handle_ = record.next_handle;
  const double ratio = options_.limiter.samples_per_insert;
  restores_credit_ = record.samples_per_insert.value_or(ratio) != ratio;
  limiter_.Restore(restores_credit_ ? 0 : record.credit);
  current_version_ = record.current_version;
  stream_max_lag_ = record.stream_max_lag;
  excluded_ = record.excluded;
  stats_ = record.stats;
  stats_.bytes = stats_.memory_bytes = stats_.disk_bytes = 0;
}

absl::Status Table::Restore(Handle handle, const StoredItem& stored, runtime::Duration age) {
  SHOAL_RETURN_IF_ERROR(contents_.Acquire(*stored.item));
  next_handle_ = std::max(next_handle_, handle + 1);
  StoredItem dated = stored;
  dated.came = now_ - age;
  if (!items_.empty()) dated.came = std::max(dated.came, items_.rbegin()->second.came);
  Store(handle, dated);
  if (restores_credit_) limiter_.Restore(limiter_.credit() + CreditOf(stored, options_));
  if (options_.max_times_sampled > 0 && stored.times_sampled >= options_.max_times_sampled) {
    Evict(handle);
  }
  SpillSome();
  DropWritten(0);
  return absl::OkStatus();
}

}  // namespace shoal::replay
