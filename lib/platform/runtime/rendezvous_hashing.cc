// SPDX-License-Identifier: Apache-2.0
#include "platform/runtime/rendezvous_hashing.h"

#include "platform/runtime/random.h"

namespace shoal::runtime {

std::optional<std::size_t> HomeOf(std::uint64_t key, std::span<const Place> places) {
  std::optional<std::size_t> home;
  std::uint64_t greatest = 0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (!places[i].open) continue;
    const std::uint64_t number = DeriveSeed(key, places[i].name);
    if (home && number <= greatest) continue;
    home = i;
    greatest = number;
  }
  return home;
}

}  // namespace shoal::runtime
