// SPDX-License-Identifier: Apache-2.0
// Bodies that instances are done with, restored to what was captured, for the next change of the
// same resource: copying a body costs more than most requests.
//
// Shared by the instances of one thread (InstanceOptions::trees); not thread-safe. When full it
// starts anew, so that what is used now finds room.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "mockserver/message.h"

namespace shoal::mockserver {

class TreePool {
 public:
  // `capacity` in trees.
  explicit TreePool(std::size_t capacity = 1024) : capacity_(capacity) {}

  // A tree that equals *base; null when there is none.
  std::shared_ptr<Json> Take(const std::shared_ptr<const Json>& base);
  // REQUIRES: `tree` equals *base and is nobody else's.
  void Give(std::shared_ptr<const Json> base, std::shared_ptr<Json> tree);

  std::size_t size() const { return size_; }

 private:
  const std::size_t capacity_;
  std::size_t size_ = 0;
  absl::flat_hash_map<std::shared_ptr<const Json>, std::vector<std::shared_ptr<Json>>> trees_;
};

}  // namespace shoal::mockserver
