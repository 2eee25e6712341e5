// SPDX-License-Identifier: Apache-2.0
#include "replay/table.h"

#include <algorithm>
#include <utility>

namespace shoal::replay {

absl::StatusOr<std::unique_ptr<Table>> Table::Create(TableOptions options,
                                                     std::unique_ptr<Selector> selector,
                                                     ContentStore& contents) {
  const auto invalid = [&options](const std::string& what) {
    return runtime::InvalidArgument("table " + options.name + ": " + what);
  };
  if (options.name.empty()) return runtime::InvalidArgument("a table has no name");
  if (options.capacity_items == 0) return invalid("capacity_items must be at least 1");
  if (options.limiter.min_size > options.capacity_items) {
    return invalid("min_size " + std::to_string(options.limiter.min_size) +
                   " is above capacity_items " + std::to_string(options.capacity_items));
  }
  if (options.max_times_sampled > 0 &&
      options.limiter.samples_per_insert > options.max_times_sampled) {
    return invalid("samples_per_insert is above max_times_sampled");
  }
  return std::unique_ptr<Table>(new Table(std::move(options), std::move(selector), contents));
}

Table::Table(TableOptions options, std::unique_ptr<Selector> selector, ContentStore& contents)
    : options_(std::move(options)),
      selector_(std::move(selector)),
      contents_(contents),
      limiter_(options_.limiter),
      seen_(options_.id_window) {}

absl::Status Table::Insert(std::unique_ptr<Item>& item) {
  if (seen_.Contains(item->id)) {
    ++stats_.duplicates_total;
    item.reset();
    return absl::OkStatus();
  }
  if (IsStale(item->oldest_version, current_version_, max_lag_)) {
    seen_.Add(item->id);
    ++stats_.evicted_stale_total;
    item.reset();
    return absl::OkStatus();
  }
  SHOAL_RETURN_IF_ERROR(CheckRoom(*item));
  SHOAL_RETURN_IF_ERROR(contents_.Acquire(*item));
  seen_.Add(item->id);
  limiter_.Inserted(item->steps);
  ++stats_.inserted_total;
  stats_.inserted_steps_total += item->steps;
  stats_.bytes += item->bytes();
  const Handle handle = next_handle_++;
  selector_->Insert(handle, item->priority);
  items_.emplace(handle, Stored{.item = std::move(item)});
  return absl::OkStatus();
}

absl::Status Table::CheckRoom(const Item& item) {
  const std::size_t bytes = item.bytes();
  if (bytes > options_.capacity_bytes) {
    return runtime::InvalidArgument("the item has " + std::to_string(bytes) + " bytes, table " +
                                    options_.name + " holds " +
                                    std::to_string(options_.capacity_bytes));
  }
  if (items_.size() >= options_.capacity_items) {
    ++stats_.full_items_total;
    return runtime::ResourceExhausted("table " + options_.name + " holds " +
                                      std::to_string(items_.size()) + " items, its capacity");
  }
  if (stats_.bytes + bytes > options_.capacity_bytes) {
    ++stats_.full_bytes_total;
    out_of_bytes_ = true;
    return runtime::ResourceExhausted("table " + options_.name + " has no room for " +
                                      std::to_string(bytes) + " bytes");
  }
  if (!limiter_.MayInsert(items_.size())) {
    ++stats_.inserts_ahead_total;
    return runtime::ResourceExhausted("table " + options_.name + " is ahead of its samples");
  }
  return absl::OkStatus();
}

std::optional<Sample> Table::Draw() {
  if (items_.empty() || (!limiter_.HoldsEnough(items_.size()) && !OutOfBytes())) {
    ++stats_.below_min_size_total;
    return std::nullopt;
  }
  if (!limiter_.MaySample() && !OutOfBytes()) {
    ++stats_.samples_ahead_total;
    return std::nullopt;
  }
  const Choice choice = selector_->Select();
  Stored& stored = items_.at(choice.handle);
  Sample sample{.item = stored.item,
                .probability = choice.probability,
                .table_size = items_.size(),
                .times_sampled = ++stored.times_sampled};
  limiter_.Sampled(stored.item->steps);
  ++stats_.sampled_total;
  stats_.sampled_steps_total += stored.item->steps;
  if (options_.max_times_sampled > 0 && stored.times_sampled >= options_.max_times_sampled) {
    sample.last = true;
    const Stored removed = std::move(stored);
    items_.erase(choice.handle);
    Remove(choice.handle, removed);
  }
  return sample;
}

void Table::Collected(const Sample& sample) {
  if (sample.last) contents_.Release(*sample.item);
}

void Table::Remove(Handle handle, const Stored& stored) {
  selector_->Remove(handle);
  limiter_.Removed(stored.item->steps, stored.times_sampled);
  stats_.bytes -= stored.item->bytes();
  out_of_bytes_ = false;
}

void Table::SetCurrentVersion(const PolicyVersion& current, std::uint32_t max_lag,
                              std::vector<std::shared_ptr<Item>>& evicted) {
  if (current < current_version_) return;
  if (current == current_version_ && max_lag == max_lag_) return;
  current_version_ = current;
  max_lag_ = max_lag;
  std::vector<Handle> stale;
  for (const auto& [handle, stored] : items_) {
    if (IsStale(stored.item->oldest_version, current, max_lag)) stale.push_back(handle);
  }
  for (const Handle handle : stale) {
    const auto found = items_.find(handle);
    const Stored stored = std::move(found->second);
    items_.erase(found);
    Remove(handle, stored);
    contents_.Release(*stored.item);
    ++stats_.evicted_stale_total;
    evicted.push_back(stored.item);
  }
}

std::size_t Table::room() const {
  if (items_.size() >= options_.capacity_items || !limiter_.MayInsert(items_.size())) return 0;
  return std::min(options_.capacity_items - items_.size(), RoomByBytes());
}

bool Table::OutOfBytes() const { return out_of_bytes_ || RoomByBytes() == 0; }

std::size_t Table::RoomByBytes() const {
  if (items_.empty()) return options_.capacity_items;
  const std::size_t mean = std::max<std::size_t>(1, stats_.bytes / items_.size());
  return (options_.capacity_bytes - stats_.bytes) / mean;
}

TableStats Table::stats() const {
  TableStats stats = stats_;
  stats.size = items_.size();
  stats.credit = limiter_.credit();
  return stats;
}

}  // namespace shoal::replay
