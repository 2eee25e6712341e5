// SPDX-License-Identifier: Apache-2.0
// A window remembers the last `capacity` ids that were added, so that no id is taken twice.
//
// Older ids are forgotten. An id takes about 34 bytes: it is stored once, and a set holds its
// place. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "replay/client/unroll_id.h"
#include "replay/id_set.h"

namespace shoal::replay {

class IdWindow {
 public:
  // A window of capacity 0 remembers nothing.
  explicit IdWindow(std::size_t capacity) : capacity_(capacity) {}
  IdWindow(const IdWindow&) = delete;
  IdWindow& operator=(const IdWindow&) = delete;

  bool Contains(const UnrollId& id) const { return places_.Find(id).has_value(); }

  // Returns false if the window contains `id` already.
  bool Add(const UnrollId& id) {
    if (capacity_ == 0) return true;
    if (Contains(id)) return false;
    if (ids_.size() < capacity_) {
      ids_.push_back(id);
    } else {
      places_.Remove(next_);
      ids_[next_] = id;
    }
    places_.Add(next_);
    next_ = static_cast<Place>((next_ + std::size_t{1}) % capacity_);
    return true;
  }

  std::size_t size() const { return ids_.size(); }

 private:
  using Place = std::uint32_t;
  struct IdOf {
    const UnrollId& operator()(Place place) const { return (*ids)[place]; }
    const std::vector<UnrollId>* ids = nullptr;
  };

  const std::size_t capacity_;
  // A ring: the next id comes to `next_`, where the oldest one is once the window is full.
  std::vector<UnrollId> ids_;
  Place next_ = 0;
  IdSet<Place, IdOf> places_{IdOf{&ids_}};
};

}  // namespace shoal::replay
