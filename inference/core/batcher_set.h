// SPDX-License-Identifier: Apache-2.0
// The batchers of a server, one for each acting thread, and the division of environments among
// them.
//
// An environment belongs to one batcher for the server's life, so that its state stays with one
// thread and no two threads ever answer for it. Ids of environments are consecutive within an
// actor, so environment id modulo the number of batchers gives each of them the same number. Every
// limit in BatcherOptions is one of each batcher. Thread-safe, as far as Batcher is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "inference/core/batcher.h"
#include "inference/core/row_block.h"
#include "platform/runtime/clock.h"

namespace shoal::inference {

class BatcherSet {
 public:
  // `count` is at least 1. `clock` must outlive the set.
  BatcherSet(std::size_t count, const BatcherOptions& options,
             runtime::Clock& clock = runtime::SystemClock());

  std::size_t size() const { return batchers_.size(); }
  Batcher& operator[](std::size_t index) { return *batchers_[index]; }
  // The index of the batcher that all rows of this environment go to.
  std::size_t IndexOf(std::uint64_t environment) const { return environment % batchers_.size(); }

  // Gives each batcher its rows, in their order and under one lock, while it has room. Rejected
  // rows stay in `rows`.
  void Add(std::vector<Row>& rows);

  void SetPaused(bool paused);
  void Wake();

 private:
  std::vector<std::unique_ptr<Batcher>> batchers_;
};

}  // namespace shoal::inference
