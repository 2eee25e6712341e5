// SPDX-License-Identifier: Apache-2.0
// A map from keys to values that is bounded in bytes: when a new value would not fit, the half of
// the values that was used least recently leaves.
//
// Values are kept in two generations of at most half the capacity each, so that finding one costs
// no bookkeeping of its place. A value that is larger than half the capacity is a generation by
// itself.
// Not thread-safe.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstddef>
#include <utility>

namespace shoal::actor {

// Copies of `Value` are cheap, as those of a pointer are.
template <typename Key, typename Value>
class GenerationCache {
 public:
  explicit GenerationCache(std::size_t capacity_bytes) : capacity_bytes_(capacity_bytes) {}

  // Returns the value kept under `key`, or else keeps and returns what `make` returns.
  // `bytes_of(value)` is the memory that a value takes, its place in the map included.
  template <typename Make, typename BytesOf>
  Value FindOrMake(const Key& key, const Make& make, const BytesOf& bytes_of) {
    if (const auto it = young_.find(key); it != young_.end()) return it->second;
    const auto it = old_.find(key);
    Value value = it == old_.end() ? make() : std::move(it->second);
    if (it != old_.end()) old_.erase(it);
    const std::size_t bytes = bytes_of(value);
    if (!young_.empty() && young_bytes_ + bytes > capacity_bytes_ / 2) {
      old_ = std::move(young_);
      young_.clear();
      young_bytes_ = 0;
    }
    young_bytes_ += bytes;
    young_.emplace(key, value);
    return value;
  }

  std::size_t size() const { return young_.size() + old_.size(); }

 private:
  using Generation = absl::flat_hash_map<Key, Value>;

  const std::size_t capacity_bytes_;
  // The values used since the generations last changed, and those used before.
  Generation young_;
  Generation old_;
  std::size_t young_bytes_ = 0;
};

}  // namespace shoal::actor
