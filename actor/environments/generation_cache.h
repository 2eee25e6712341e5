// SPDX-License-Identifier: Apache-2.0
// A map that holds so many values at most, an odd number of them rounded up: when it is full, the
// half that was used least recently goes.
//
// Not thread-safe.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstddef>
#include <utility>

namespace shoal::actor {

// Copies of `Value` are cheap: a pointer to what was made.
template <typename Key, typename Value>
class GenerationCache {
 public:
  // `capacity` at least 1.
  explicit GenerationCache(std::size_t capacity) : capacity_(capacity) {}

  // What is kept under `key`, else what `make` makes, and it is kept.
  template <typename Make>
  Value FindOrMake(const Key& key, const Make& make) {
    if (const auto it = young_.find(key); it != young_.end()) return it->second;
    const auto it = old_.find(key);
    Value value = it == old_.end() ? make() : std::move(it->second);
    if (it != old_.end()) old_.erase(it);
    if (young_.size() >= (capacity_ + 1) / 2) {
      old_ = std::move(young_);
      young_.clear();
    }
    young_.emplace(key, value);
    return value;
  }

  std::size_t size() const { return young_.size() + old_.size(); }

 private:
  using Generation = absl::flat_hash_map<Key, Value>;

  const std::size_t capacity_;
  // Used since the last change of generations, and before.
  Generation young_;
  Generation old_;
};

}  // namespace shoal::actor
