// SPDX-License-Identifier: Apache-2.0
// Bodies that instances are done with, restored to what was captured, for the next change of the
// same resource: copying a body costs more than most requests.
//
// Shared by many instances (InstanceOptions::trees). Thread-safe. When full it starts anew, so that
// what is used now finds room.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "mockserver/messages/message.h"
#include "platform/runtime/mutex.h"

namespace shoal::mockserver {

class TreePool {
 public:
  // `capacity` in trees.
  explicit TreePool(std::size_t capacity = 1024) : capacity_(capacity) {}

  // A tree that equals *base; null when there is none.
  std::shared_ptr<Json> Take(const std::shared_ptr<const Json>& base) ABSL_LOCKS_EXCLUDED(mutex_);
  // REQUIRES: `tree` equals *base and is nobody else's.
  void Give(std::shared_ptr<const Json> base, std::shared_ptr<Json> tree)
      ABSL_LOCKS_EXCLUDED(mutex_);

  std::size_t size() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  using Trees =
      absl::flat_hash_map<std::shared_ptr<const Json>, std::vector<std::shared_ptr<Json>>>;

  const std::size_t capacity_;
  mutable runtime::Mutex mutex_;
  std::size_t size_ ABSL_GUARDED_BY(mutex_) = 0;
  Trees trees_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace shoal::mockserver
