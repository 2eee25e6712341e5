// SPDX-License-Identifier: Apache-2.0
// The streams that the service's thread wakes when trying again may help, in the order in which
// they have waited. Thread-safe. Wake is called without a lock.
//
// A stream that can have nothing now stands in line. One that has got something and wants more goes
// to the end of the line, so that each gets its turn, however fast another one asks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "platform/runtime/mutex.h"

namespace shoal::replay {

class Waiter {
 public:
  virtual ~Waiter() = default;
  virtual void Wake() = 0;
  // The tables that the stream waits for now.
  virtual std::set<std::string> WaitsFor() = 0;
};

class Waiters {
 public:
  void Add(const std::shared_ptr<Waiter>& waiter) ABSL_LOCKS_EXCLUDED(mutex_) {
    const runtime::MutexLock lock(mutex_);
    waiters_.emplace(waiter.get(), waiter);
  }
  void Remove(const Waiter* waiter) ABSL_LOCKS_EXCLUDED(mutex_) {
    const runtime::MutexLock lock(mutex_);
    waiters_.erase(waiter);
    line_.erase(waiter);
  }
  std::size_t size() const ABSL_LOCKS_EXCLUDED(mutex_) {
    const runtime::MutexLock lock(mutex_);
    return waiters_.size();
  }
  // The stream stands in line from now on, at the end. One that stands there already keeps its
  // place, and one that was removed gets none. `table` is the one table that it waits for; a stream
  // that may wait for several names none.
  void Stand(const Waiter* waiter, const std::string& table = {}) ABSL_LOCKS_EXCLUDED(mutex_) {
    const runtime::MutexLock lock(mutex_);
    // A stream may end while it is being woken.
    if (waiters_.contains(waiter)) line_.emplace(waiter, Place{next_place_++, table});
  }
  // The stream has got something, and gives up its place.
  void Leave(const Waiter* waiter) ABSL_LOCKS_EXCLUDED(mutex_) {
    const runtime::MutexLock lock(mutex_);
    line_.erase(waiter);
  }
  // Returns whether others stand in line for `table`, before this stream if it does.
  bool OthersStandBefore(const Waiter* waiter, const std::string& table) const
      ABSL_LOCKS_EXCLUDED(mutex_) {
    const runtime::MutexLock lock(mutex_);
    const auto own = line_.find(waiter);
    const std::uint64_t number = own == line_.end() ? next_place_ : own->second.number;
    return std::any_of(line_.begin(), line_.end(), [number, &table](const auto& entry) {
      return entry.second.number < number && entry.second.table == table;
    });
  }
  // Wakes those that have waited longest first, and then those that do not stand in line.
  void WakeAll() ABSL_LOCKS_EXCLUDED(mutex_) {
    for (const std::shared_ptr<Waiter>& waiter : Live()) waiter->Wake();
  }
  // Returns how many streams wait for each table.
  std::map<std::string, std::uint32_t> Waiting() const ABSL_LOCKS_EXCLUDED(mutex_) {
    std::map<std::string, std::uint32_t> waiting;
    for (const std::shared_ptr<Waiter>& waiter : Live()) {
      for (const std::string& table : waiter->WaitsFor()) ++waiting[table];
    }
    return waiting;
  }

 private:
  struct Place {
    std::uint64_t number = 0;
    std::string table;
  };

  // Returns those in line, in its order, and then the others.
  std::vector<std::shared_ptr<Waiter>> Live() const ABSL_LOCKS_EXCLUDED(mutex_) {
    std::map<std::uint64_t, std::shared_ptr<Waiter>> in_line;
    std::vector<std::shared_ptr<Waiter>> others;
    std::vector<std::shared_ptr<Waiter>> live;
    const runtime::MutexLock lock(mutex_);
    for (const auto& [pointer, waiter] : waiters_) {
      auto locked = waiter.lock();
      if (!locked) continue;
      if (const auto place = line_.find(pointer); place != line_.end()) {
        in_line.emplace(place->second.number, std::move(locked));
      } else {
        others.push_back(std::move(locked));
      }
    }
    for (auto& [number, waiter] : in_line) live.push_back(std::move(waiter));
    std::move(others.begin(), others.end(), std::back_inserter(live));
    return live;
  }

  mutable runtime::Mutex mutex_;
  std::map<const Waiter*, std::weak_ptr<Waiter>> waiters_ ABSL_GUARDED_BY(mutex_);
  // The places in line, the least number first.
  std::map<const Waiter*, Place> line_ ABSL_GUARDED_BY(mutex_);
  std::uint64_t next_place_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace shoal::replay
