// SPDX-License-Identifier: Apache-2.0
// A selector chooses an item of a table: the one that is sampled next, or the one that is removed
// to make room.
//
// A table tells both its selectors of every item that comes, changes its priority and leaves, by
// the item's handle. A selector that draws at random takes a seed, so that the same calls give the
// same choices. Not thread-safe: the table's shard holds its lock around every call.
#pragma once

#include <cstdint>

namespace shoal::replay {

// A handle names an item within its table. Handles are given out once and ascend in the order of
// insertion.
using Handle = std::uint64_t;

struct Choice {
  Handle handle = 0;
  // The probability with which this item was chosen among all that were in, in (0, 1].
  double probability = 1;
};

class Selector {
 public:
  virtual ~Selector() = default;
  // REQUIRES: `handle` is above every handle inserted before; `priority` is finite and at least 0.
  virtual void Insert(Handle handle, double priority) = 0;
  // REQUIRES: `handle` is in; `priority` as above.
  virtual void Update(Handle handle, double priority) = 0;
  // REQUIRES: `handle` is in.
  virtual void Remove(Handle handle) = 0;
  // The item that is chosen stays in. REQUIRES: something is in.
  virtual Choice Sample() = 0;
};

}  // namespace shoal::replay
