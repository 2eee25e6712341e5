// SPDX-License-Identifier: Apache-2.0
// Rounds numbers of rows and candidates up to few different ones, so that batches of almost the
// same size have the same shapes. Pure and thread-safe.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace shoal::model {

// Returns the least multiple of 32 that is not below `count`, above 256 that of an eighth of the
// greatest power of two in it: a small batch may have many more rows in the same time, a large one
// may not. It is at least 32. REQUIRES: count is 0 to 2^62.
inline std::int64_t RowBucket(std::int64_t count) {
  const auto power = static_cast<std::int64_t>(
      std::bit_floor(static_cast<std::uint64_t>(std::max<std::int64_t>(count, 256))));
  const std::int64_t step = power / 8;
  return std::max(step, (count + step - 1) / step * step);
}

// Returns 0 for 0, otherwise the least power of two from 64 on that is not below `count`. REQUIRES:
// the same.
inline std::int64_t TermBucket(std::int64_t count) {
  if (count == 0) return 0;
  return static_cast<std::int64_t>(
      std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(count, 64))));
}

}  // namespace shoal::model
