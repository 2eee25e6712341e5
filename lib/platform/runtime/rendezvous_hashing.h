// SPDX-License-Identifier: Apache-2.0
// Chooses a home among places for a key, so that all who know the same places choose the same one,
// and that a place which comes or goes moves no keys but its own: of N places about 1/N.
//
// Each place is given a number that a hash makes of the key and the place's name, and the greatest
// number wins (Thaler and Ravishankar, "Using name-based mappings to increase hit rates", IEEE/ACM
// Transactions on Networking 6(1), 1998).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace shoal::runtime {

struct Place {
  std::string_view name;
  bool open = true;
};

// Returns the home of `key` among the places that are open, or nothing if none is.
std::optional<std::size_t> HomeOf(std::uint64_t key, std::span<const Place> places);

}  // namespace shoal::runtime
