// SPDX-License-Identifier: Apache-2.0
// How often, and after which pause, ranks are started again that fail; and the epochs of their
// groups.
#pragma once

#include <cstdint>

#include "platform/runtime/clock.h"

namespace shoal::collectives {

// Counts restarts in a row. The pause before the first is `min_back_off`; it doubles with each of
// the others, up to `max_back_off`. Not thread-safe.
class Restarts {
 public:
  Restarts(std::int64_t max_restarts, runtime::Duration min_back_off,
           runtime::Duration max_back_off)
      : max_restarts_(max_restarts), min_back_off_(min_back_off), max_back_off_(max_back_off) {}

  // Whether no restart in a row is left.
  bool spent() const { return in_a_row_ >= max_restarts_; }
  std::int64_t in_a_row() const { return in_a_row_; }
  // Counts a restart, and returns the pause before it.
  runtime::Duration Take();
  // Gives all restarts and the shortest pause back.
  void Restore() { in_a_row_ = 0; }

 private:
  const std::int64_t max_restarts_;
  const runtime::Duration min_back_off_;
  const runtime::Duration max_back_off_;
  std::int64_t in_a_row_ = 0;
  runtime::Duration back_off_{};
};

// Returns the epoch of the group after the one of `epoch`, or after none, which is 0. It is at
// least the clock's milliseconds, so larger than any that somebody else has given before.
std::uint64_t NextEpoch(std::uint64_t epoch, runtime::Clock& clock);

}  // namespace shoal::collectives
