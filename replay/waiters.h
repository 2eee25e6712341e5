// SPDX-License-Identifier: Apache-2.0
// The streams that the service's thread wakes when trying again may help. Thread-safe. Wake is
// called without a lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "platform/runtime/mutex.h"

namespace shoal::replay {

class Waiter {
 public:
  virtual ~Waiter() = default;
  virtual void Wake() = 0;
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
    std::vector<std::shared_ptr<Waiter>> waiters;
    std::size_t first = 0;
    {
      const runtime::MutexLock lock(mutex_);
      for (const auto& [pointer, waiter] : waiters_) {
        if (auto live = waiter.lock()) waiters.push_back(std::move(live));
      }
      first = turn_++;
    }
    for (std::size_t i = 0; i < waiters.size(); ++i) waiters[(first + i) % waiters.size()]->Wake();
  }

 private:
  mutable runtime::Mutex mutex_;
  std::map<const Waiter*, std::weak_ptr<Waiter>> waiters_ ABSL_GUARDED_BY(mutex_);
  std::size_t turn_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace shoal::replay
