// SPDX-License-Identifier: Apache-2.0
// The streams that the service's thread wakes when trying again may help. Thread-safe. Wake is
// called without a lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
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
  }
  std::size_t size() const ABSL_LOCKS_EXCLUDED(mutex_) {
    const runtime::MutexLock lock(mutex_);
    return waiters_.size();
  }
  // Starts with another stream each time, so that all get their share.
  void WakeAll() ABSL_LOCKS_EXCLUDED(mutex_) {
    const std::vector<std::shared_ptr<Waiter>> waiters = Live();
    for (std::size_t i = 0; i < waiters.size(); ++i) {
      waiters[(turn_ + i) % waiters.size()]->Wake();
    }
    ++turn_;
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
  std::vector<std::shared_ptr<Waiter>> Live() const ABSL_LOCKS_EXCLUDED(mutex_) {
    std::vector<std::shared_ptr<Waiter>> live;
    const runtime::MutexLock lock(mutex_);
    for (const auto& [pointer, waiter] : waiters_) {
      if (auto locked = waiter.lock()) live.push_back(std::move(locked));
    }
    return live;
  }

  mutable runtime::Mutex mutex_;
  std::map<const Waiter*, std::weak_ptr<Waiter>> waiters_ ABSL_GUARDED_BY(mutex_);
  std::size_t turn_ = 0;  // used by the service's thread only
};

}  // namespace shoal::replay
