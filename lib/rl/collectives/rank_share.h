// SPDX-License-Identifier: Apache-2.0
// Which part of an array belongs to which rank, where an array is divided among the ranks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace shoal::collectives {

struct RankShare {
  std::size_t begin = 0;
  std::size_t size = 0;
};

// Shares follow one another in the order of ranks. Where the elements do not divide evenly, the
// first shares have one more, and with fewer elements than ranks the last shares are empty.
// REQUIRES: 0 <= rank < world_size.
inline RankShare ShareOf(std::size_t elements, std::int64_t rank, std::int64_t world_size) {
  const auto place = static_cast<std::size_t>(rank);
  const std::size_t least = elements / static_cast<std::size_t>(world_size);
  const std::size_t longer = elements % static_cast<std::size_t>(world_size);
  return {.begin = place * least + std::min(place, longer),
          .size = least + (place < longer ? 1 : 0)};
}

}  // namespace shoal::collectives
