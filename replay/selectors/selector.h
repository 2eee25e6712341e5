// SPDX-License-Identifier: Apache-2.0
// A selector chooses an item of a table: the one that is sampled next, or the one that is removed
// to make room.
//
// A table tells both its selectors, by the item's handle, when an item is inserted, changes its
// priority or is removed. A selector that chooses at random takes a seed, so that the same calls
// give the same choices. Not thread-safe: the shard holds its lock around every call.
#pragma once

#include <cstddef>
#include <cstdint>

namespace shoal::replay {

// A handle names an item within its table. Handles are never reused and ascend in order of
// insertion.
using Handle = std::uint64_t;

// What a selector draws from. A table's share of the samples from all shards follows it.
struct Mass {
  // The number of items.
  std::size_t size = 0;
  // The sum of the items' weights: p^alpha where the selector weighs priorities, 1 otherwise.
  double sum = 0;
  // The least weight above 0; without any it is 0. It gives the greatest importance weight.
  double least = 0;

  // The mass of `size` items of weight 1.
  static Mass Equal(std::size_t size) {
    return {.size = size, .sum = static_cast<double>(size), .least = size > 0 ? 1.0 : 0.0};
  }
};

struct Choice {
  Handle handle = 0;
  // The probability, in (0, 1], with which this item was chosen among all items.
  double probability = 1;
};

class Selector {
 public:
  virtual ~Selector() = default;
  // REQUIRES: `handle` is above all earlier ones; `priority` is finite and at least 0.
  virtual void Insert(Handle handle, double priority) = 0;
  // REQUIRES: `handle` was inserted and not removed; `priority` is finite and at least 0.
  virtual void Update(Handle handle, double priority) = 0;
  // REQUIRES: `handle` was inserted and not removed.
  virtual void Remove(Handle handle) = 0;
  // The chosen item stays. REQUIRES: there is an item.
  virtual Choice Sample() = 0;
  virtual Mass mass() const = 0;
};

}  // namespace shoal::replay
