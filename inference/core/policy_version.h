// SPDX-License-Identifier: Apache-2.0
// Which parameters acted: newer is greater, epoch first. The core's own, free of the wire.
#pragma once

#include <compare>
#include <cstdint>

namespace shoal::inference {

struct PolicyVersion {
  std::uint64_t epoch = 0;
  std::uint64_t step = 0;

  friend auto operator<=>(const PolicyVersion&, const PolicyVersion&) = default;
};

}  // namespace shoal::inference
