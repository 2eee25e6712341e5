// SPDX-License-Identifier: Apache-2.0
// A bounded queue between threads that can be drained (finish what is in it) or closed (drop it).
//
// Thread-safe. Items leave in the order they came. The queue counts the pushes that it rejects.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>

#include "platform/runtime/clock.h"
#include "platform/runtime/mutex.h"

namespace shoal::runtime {

template <typename T>
class BoundedQueue {
 public:
  // `capacity` is at least 1. `clock` must outlive the queue.
  explicit BoundedQueue(std::size_t capacity, Clock& clock = SystemClock())
      : capacity_(capacity), clock_(clock) {}

  // Returns false when the queue is full, draining or closed; `item` then stays with the caller.
  bool TryPush(T&& item) ABSL_LOCKS_EXCLUDED(mutex_) {
    const MutexLock lock(mutex_);
    if (ending_ || items_.size() >= capacity_) {
      ++rejected_total_;
      return false;
    }
    items_.push_back(std::move(item));
    not_empty_.NotifyOne();
    return true;
  }

  // Waits while the queue is full. Returns false when it is draining or closed; `item` then stays
  // with the caller.
  bool Push(T&& item) ABSL_LOCKS_EXCLUDED(mutex_) {
    const MutexLock lock(mutex_);
    while (!ending_ && items_.size() >= capacity_) not_full_.Wait(mutex_);
    if (ending_) {
      ++rejected_total_;
      return false;
    }
    items_.push_back(std::move(item));
    not_empty_.NotifyOne();
    return true;
  }

  // Waits for an item. Returns nothing once the queue is closed, or drained and empty.
  std::optional<T> Pop() ABSL_LOCKS_EXCLUDED(mutex_) {
    const MutexLock lock(mutex_);
    while (!ending_ && items_.empty()) not_empty_.Wait(mutex_);
    return TakeLocked();
  }

  // Like Pop, but gives up when the clock reaches `deadline`.
  std::optional<T> PopUntil(TimePoint deadline) ABSL_LOCKS_EXCLUDED(mutex_) {
    const MutexLock lock(mutex_);
    while (!ending_ && items_.empty()) {
      if (!clock_.WaitUntil(not_empty_, mutex_, deadline)) break;
    }
    return TakeLocked();
  }

  // Rejects further pushes; pops go on until the queue is empty.
  void Drain() ABSL_LOCKS_EXCLUDED(mutex_) {
    const MutexLock lock(mutex_);
    ending_ = true;
    not_empty_.NotifyAll();
    not_full_.NotifyAll();
  }

  // Rejects further pushes and drops the queued items.
  void Close() ABSL_LOCKS_EXCLUDED(mutex_) {
    const MutexLock lock(mutex_);
    ending_ = true;
    items_.clear();
    not_empty_.NotifyAll();
    not_full_.NotifyAll();
  }

  std::size_t size() const ABSL_LOCKS_EXCLUDED(mutex_) {
    const MutexLock lock(mutex_);
    return items_.size();
  }
  bool ending() const ABSL_LOCKS_EXCLUDED(mutex_) {
    const MutexLock lock(mutex_);
    return ending_;
  }
  std::uint64_t rejected_total() const ABSL_LOCKS_EXCLUDED(mutex_) {
    const MutexLock lock(mutex_);
    return rejected_total_;
  }

 private:
  std::optional<T> TakeLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (items_.empty()) return std::nullopt;
    std::optional<T> item(std::move(items_.front()));
    items_.pop_front();
    not_full_.NotifyOne();
    return item;
  }

  const std::size_t capacity_;
  Clock& clock_;

  mutable Mutex mutex_;
  CondVar not_empty_;
  CondVar not_full_;
  std::deque<T> items_ ABSL_GUARDED_BY(mutex_);
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  std::uint64_t rejected_total_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace shoal::runtime
