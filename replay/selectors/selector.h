// SPDX-License-Identifier: Apache-2.0
// Chooses which item of a table is next. The seam for uniform and prioritized sampling.
//
// Calls come one at a time: implementations need no lock. Handles are given once and grow.
#pragma once

#include <cstdint>

namespace shoal::replay {

using Handle = std::uint64_t;

struct Choice {
  Handle handle = 0;
  // Probability with which it was drawn.
  double probability = 1;
};

class Selector {
 public:
  virtual ~Selector() = default;
  // REQUIRES: `handle` was never inserted.
  virtual void Insert(Handle handle, double priority) = 0;
  // REQUIRES: `handle` is in.
  virtual void Remove(Handle handle) = 0;
  // REQUIRES: something is in. Does not remove it.
  virtual Choice Select() = 0;
};

}  // namespace shoal::replay
