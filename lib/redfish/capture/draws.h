// SPDX-License-Identifier: Apache-2.0
// The random choices of one aspect of a variant (variant.h). Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "platform/runtime/random.h"

namespace shoal::redfish {

class Draws {
 public:
  // Aspects of different names draw independently, so that a change of one leaves the others alone.
  Draws(std::uint64_t seed, std::string_view aspect) : random_(runtime::DeriveSeed(seed, aspect)) {}

  bool Chance(double probability) { return random_.Uniform() < probability; }
  // REQUIRES: bound >= 1.
  std::size_t Below(std::size_t bound) { return static_cast<std::size_t>(random_.Below(bound)); }
  // REQUIRES: `items` is not empty.
  template <typename Item>
  const Item& Pick(std::span<const Item> items) {
    return items[Below(items.size())];
  }
  template <typename Item>
  void Shuffle(std::span<Item> items) {
    runtime::Shuffle(items, random_);
  }

 private:
  runtime::Random random_;
};

}  // namespace shoal::redfish
