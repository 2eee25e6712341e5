// SPDX-License-Identifier: Apache-2.0
// A cache of at most `capacity` values, an odd capacity rounded up. When it is full, it drops the
// half that was used least recently.
//
// Not thread-safe.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstddef>
#include <utility>

namespace shoal::actor {

// `Value` must be cheap to copy, for example a pointer.
template <typename Key, typename Value>
class GenerationCache {
 public:
  // REQUIRES: capacity is at least 1.
  explicit GenerationCache(std::size_t capacity) : capacity_(capacity) {}

  // Returns the value of `key`. If there is none, makes it with `make` and keeps it.
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
  // Values used since the generations last changed, and values not used since then.
  Generation young_;
  Generation old_;
};

}  // namespace shoal::actor
