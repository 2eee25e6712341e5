// SPDX-License-Identifier: Apache-2.0
#include "mockserver/process/instance_table.h"

#include <absl/strings/str_format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "redfish/capture/capture.h"

namespace shoal::mockserver {
namespace {

constexpr std::size_t kMaximumId = 64;
constexpr std::chrono::seconds kSweepEvery{5};

bool IsId(std::string_view id) {
  const auto is_allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
  };
  return id.size() <= kMaximumId && std::all_of(id.begin(), id.end(), is_allowed);
}

}  // namespace

void InstanceTable::Slot::CatchUp(runtime::TimePoint now) {
  if (!has_real_clock) return;
  const auto passed = std::chrono::duration_cast<std::chrono::milliseconds>(now - caught_up_);
  if (passed.count() <= 0) return;
  caught_up_ += passed;
  instance.Advance(passed);
}

absl::StatusOr<std::unique_ptr<InstanceTable>> InstanceTable::Create(
    std::vector<std::shared_ptr<const World>> worlds, InstanceTableOptions options,
    runtime::Clock& clock) {
  if (worlds.empty()) return runtime::InvalidArgument("no capture to serve");
  std::set<std::string> names;
  for (const auto& world : worlds) {
    if (!names.insert(world->capture().name()).second) {
      return runtime::InvalidArgument("two captures are called " + world->capture().name());
    }
  }
  std::unique_ptr<InstanceTable> table(
      new InstanceTable(std::move(worlds), std::move(options), clock));
  if (table->options_.idle_limit.count() > 0) {
    table->sweeper_ = runtime::Thread("sweeper", [raw = table.get()] { raw->SweepUntilStopped(); });
  }
  return table;
}

InstanceTable::InstanceTable(std::vector<std::shared_ptr<const World>> worlds,
                             InstanceTableOptions options, runtime::Clock& clock)
    : worlds_(std::move(worlds)),
      options_(std::move(options)),
      clock_(clock),
      default_(std::make_shared<Slot>(worlds_.front(), Complete(options_.instance), clock.Now())),
      id_prefix_(absl::StrFormat("i%x-", clock.UnixNanos())) {}

InstanceTable::~InstanceTable() {
  {
    const runtime::MutexLock lock(mutex_);
    stopping_ = true;
    wake_.NotifyAll();
  }
  sweeper_.Join();
}

// With a real clock, dates are today's, and without a given seed no two instances draw alike.
InstanceOptions InstanceTable::Complete(InstanceOptions options) const {
  if (options.clock == ClockKind::kReal) {
    options.epoch = std::chrono::duration_cast<std::chrono::seconds>(
        std::chrono::nanoseconds(clock_.UnixNanos()));
    if (options.seed == 0) options.seed = clock_.UnixNanos();
  }
  if (options.trees == nullptr) options.trees = trees_;
  return options;
}

absl::StatusOr<std::string> InstanceTable::Make(std::string_view capture, std::string id,
                                                InstanceOptions options) {
  const auto world = std::find_if(worlds_.begin(), worlds_.end(), [&](const auto& candidate) {
    return capture.empty() || candidate->capture().name() == capture;
  });
  if (world == worlds_.end()) {
    return runtime::NotFound("no capture " + std::string(capture) + " is loaded");
  }
  if (!IsId(id) || id == kDefaultId) {
    return runtime::InvalidArgument("an id is up to 64 letters, digits, '-' and '_', not default");
  }
  auto slot = std::make_shared<Slot>(*world, Complete(std::move(options)), clock_.Now());
  const runtime::MutexLock lock(mutex_);
  if (id.empty()) id = id_prefix_ + std::to_string(made_total_);
  const bool is_new = !slots_.contains(id);
  if (is_new && slots_.size() >= static_cast<std::size_t>(options_.max_instances)) {
    return runtime::ResourceExhausted("there are " + std::to_string(options_.max_instances) +
                                      " instances, the limit");
  }
  ++made_total_;
  slots_.insert_or_assign(id, std::move(slot));
  return id;
}

bool InstanceTable::Delete(std::string_view id) {
  std::shared_ptr<Slot> deleted;
  const runtime::MutexLock lock(mutex_);
  const auto found = slots_.find(id);
  if (found == slots_.end()) return false;
  deleted = std::move(found->second);
  slots_.erase(found);
  return true;
}

std::shared_ptr<InstanceTable::Slot> InstanceTable::Find(std::string_view id) {
  if (id == kDefaultId) return default_;
  const runtime::MutexLock lock(mutex_);
  const auto found = slots_.find(id);
  if (found == slots_.end()) return nullptr;
  found->second->last_use_.store(clock_.Now().time_since_epoch().count(),
                                 std::memory_order_relaxed);
  return found->second;
}

void InstanceTable::Sweep() {
  if (options_.idle_limit.count() <= 0) return;
  const auto oldest = (clock_.Now() - options_.idle_limit).time_since_epoch().count();
  std::vector<std::shared_ptr<Slot>> deleted;
  const runtime::MutexLock lock(mutex_);
  for (auto it = slots_.begin(); it != slots_.end();) {
    const auto here = it++;
    if (here->second->last_use_.load(std::memory_order_relaxed) > oldest) continue;
    deleted.push_back(std::move(here->second));
    slots_.erase(here);
  }
}

std::vector<std::shared_ptr<InstanceTable::Slot>> InstanceTable::RealClocks() const {
  std::vector<std::shared_ptr<Slot>> real;
  if (default_->has_real_clock) real.push_back(default_);
  const runtime::MutexLock lock(mutex_);
  for (const auto& [id, slot] : slots_) {
    if (slot->has_real_clock) real.push_back(slot);
  }
  return real;
}

std::size_t InstanceTable::size() const {
  const runtime::MutexLock lock(mutex_);
  return slots_.size();
}

void InstanceTable::SweepUntilStopped() {
  while (true) {
    {
      const runtime::MutexLock lock(mutex_);
      const runtime::TimePoint next = clock_.Now() + kSweepEvery;
      while (!stopping_ && clock_.WaitUntil(wake_, mutex_, next)) {
      }
      if (stopping_) return;
    }
    Sweep();
  }
}

}  // namespace shoal::mockserver
