// SPDX-License-Identifier: Apache-2.0
// A window remembers the last `capacity` ids that were added, so that no id is taken twice.
//
// Older ids are forgotten. An id takes about 34 bytes: it is stored once, and a set holds its
// place. Not thread-safe.
#pragma once

#include <absl/container/flat_hash_set.h>
#include <absl/hash/hash.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "replay/item.h"

namespace shoal::replay {

class IdWindow {
 public:
  // A window of capacity 0 remembers nothing.
  explicit IdWindow(std::size_t capacity) : capacity_(capacity) {}
  IdWindow(const IdWindow&) = delete;
  IdWindow& operator=(const IdWindow&) = delete;

  bool Contains(const UnrollId& id) const { return places_.contains(id); }

  // Returns false if the window contains `id` already.
  bool Add(const UnrollId& id) {
    if (capacity_ == 0) return true;
    if (Contains(id)) return false;
    if (ids_.size() < capacity_) {
      ids_.push_back(id);
    } else {
      places_.erase(next_);
      ids_[next_] = id;
    }
    places_.insert(next_);
    next_ = static_cast<Place>((next_ + std::size_t{1}) % capacity_);
    return true;
  }

  std::size_t size() const { return ids_.size(); }

 private:
  using Place = std::uint32_t;
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(const UnrollId& id) const { return absl::Hash<UnrollId>()(id); }
    std::size_t operator()(Place place) const { return (*this)((*ids)[place]); }
    const std::vector<UnrollId>* ids = nullptr;
  };
  struct Equal {
    using is_transparent = void;
    bool operator()(Place a, Place b) const { return a == b; }
    bool operator()(Place place, const UnrollId& id) const { return (*ids)[place] == id; }
    const std::vector<UnrollId>* ids = nullptr;
  };

  const std::size_t capacity_;
  // A ring: the next id comes to `next_`, where the oldest one is once the window is full.
  std::vector<UnrollId> ids_;
  Place next_ = 0;
  absl::flat_hash_set<Place, Hash, Equal> places_{0, Hash{&ids_}, Equal{&ids_}};
};

}  // namespace shoal::replay
