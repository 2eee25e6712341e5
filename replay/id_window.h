// SPDX-License-Identifier: Apache-2.0
// A window remembers the last `capacity` ids that were added, so that no id is taken twice.
//
// Older ids are forgotten. Not thread-safe.
#pragma once

#include <absl/container/flat_hash_set.h>

#include <cstddef>
#include <deque>

#include "replay/item.h"

namespace shoal::replay {

class IdWindow {
 public:
  // A window of capacity 0 remembers nothing.
  explicit IdWindow(std::size_t capacity) : capacity_(capacity) {}

  bool Contains(const UnrollId& id) const { return ids_.contains(id); }

  // Returns false if the window contains `id` already.
  bool Add(const UnrollId& id) {
    if (capacity_ == 0) return true;
    if (!ids_.insert(id).second) return false;
    order_.push_back(id);
    if (order_.size() > capacity_) {
      ids_.erase(order_.front());
      order_.pop_front();
    }
    return true;
  }

  std::size_t size() const { return order_.size(); }

 private:
  const std::size_t capacity_;
  absl::flat_hash_set<UnrollId> ids_;
  std::deque<UnrollId> order_;
};

}  // namespace shoal::replay
