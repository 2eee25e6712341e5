// SPDX-License-Identifier: Apache-2.0
#include "mockserver/service/tree_pool.h"

namespace shoal::mockserver {

std::shared_ptr<Json> TreePool::Take(const std::shared_ptr<const Json>& base) {
  const runtime::MutexLock lock(mutex_);
  const auto found = trees_.find(base);
  if (found == trees_.end() || found->second.empty()) return nullptr;
  std::shared_ptr<Json> tree = std::move(found->second.back());
  found->second.pop_back();
  --size_;
  return tree;
}

void TreePool::Give(std::shared_ptr<const Json> base, std::shared_ptr<Json> tree) {
  if (capacity_ == 0) return;
  // The old trees are freed after the lock is released.
  Trees old;
  const runtime::MutexLock lock(mutex_);
  if (size_ >= capacity_) {
    old.swap(trees_);
    size_ = 0;
  }
  trees_[std::move(base)].push_back(std::move(tree));
  ++size_;
}

std::size_t TreePool::size() const {
  const runtime::MutexLock lock(mutex_);
  return size_;
}

}  // namespace shoal::mockserver
