// SPDX-License-Identifier: Apache-2.0
// Promises keep the room of a full table for the inserting stream whose turn it is, until its item
// has come. Otherwise a client that is near would always be faster than one that is far.
//
// A promise that is not used ends after kPromised, so that a client that has nothing to send, or is
// stuck, holds up others only briefly. Thread-safe.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "platform/runtime/clock.h"
#include "platform/runtime/mutex.h"

namespace shoal::replay {

class Promises {
 public:
  static constexpr std::chrono::milliseconds kPromised{250};

  // `clock` must outlive this object.
  explicit Promises(runtime::Clock& clock = runtime::SystemClock()) : clock_(clock) {}

  // Promises the stream room for so many items, whichever of the tables they go into, in place of
  // what it was promised before.
  void Make(const void* stream, std::set<std::string> tables, std::size_t items)
      ABSL_LOCKS_EXCLUDED(mutex_) {
    const runtime::MutexLock lock(mutex_);
    promises_[stream] = {std::move(tables), items, clock_.Now() + kPromised};
  }
  // The stream has sent so many items.
  void Use(const void* stream, std::size_t items) ABSL_LOCKS_EXCLUDED(mutex_) {
    const runtime::MutexLock lock(mutex_);
    const auto found = promises_.find(stream);
    if (found == promises_.end()) return;
    if (found->second.items <= items) {
      promises_.erase(found);
    } else {
      found->second.items -= items;
    }
  }
  // The stream has ended.
  void Drop(const void* stream) ABSL_LOCKS_EXCLUDED(mutex_) {
    const runtime::MutexLock lock(mutex_);
    promises_.erase(stream);
  }
  // Returns for how many items of `table` room is promised to other streams now.
  std::size_t ToOthers(const void* stream, const std::string& table) const
      ABSL_LOCKS_EXCLUDED(mutex_) {
    const runtime::MutexLock lock(mutex_);
    if (promises_.empty()) return 0;
    const runtime::TimePoint now = clock_.Now();
    std::size_t items = 0;
    for (const auto& [other, promise] : promises_) {
      const bool counts = other != stream && promise.until > now && promise.tables.contains(table);
      if (counts) items += promise.items;
    }
    return items;
  }

 private:
  struct Promise {
    std::set<std::string> tables;
    std::size_t items = 0;
    runtime::TimePoint until;
  };

  runtime::Clock& clock_;
  mutable runtime::Mutex mutex_;
  std::map<const void*, Promise> promises_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace shoal::replay
