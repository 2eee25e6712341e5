// SPDX-License-Identifier: Apache-2.0
// A pool of resource bodies that instances no longer use, restored to the captured content. The
// next change of the same resource takes one of them, because copying a body costs more than most
// requests.
//
// Many instances share a pool (InstanceOptions::trees). Thread-safe. When the pool is full it drops
// all its trees, so that resources in current use find room.
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
  // `capacity` is the maximum number of trees.
  explicit TreePool(std::size_t capacity = 1024) : capacity_(capacity) {}

  // Returns a tree that equals *base, or null when there is none.
  std::shared_ptr<Json> Take(const std::shared_ptr<const Json>& base) ABSL_LOCKS_EXCLUDED(mutex_);
  // REQUIRES: `tree` equals *base and nobody else holds it.
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
