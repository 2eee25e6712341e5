// SPDX-License-Identifier: Apache-2.0
// How many uses of an item are reserved on disk at a time. Reserved uses that were not given out
// when the process dies count as used.
#pragma once

#include <algorithm>
#include <cstdint>

namespace shoal::replay::durability {

// Returns the number of uses in one reservation of a table with this max_times_sampled: an eighth
// of it, or 16 if there is no maximum.
inline std::uint32_t ReservationSize(std::uint32_t max_times_sampled) {
  constexpr std::uint32_t kWithoutMaximum = 16;
  return max_times_sampled == 0 ? kWithoutMaximum
                                : std::max<std::uint32_t>(1, max_times_sampled / 8);
}

// Returns the uses that are reserved once `uses` were given out, in reservations of `size`.
inline std::uint32_t ReservedUses(std::uint32_t uses, std::uint32_t size) {
  return (uses + size - 1) / size * size;
}

}  // namespace shoal::replay::durability
