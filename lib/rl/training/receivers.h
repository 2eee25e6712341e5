// SPDX-License-Identifier: Apache-2.0
// The ranks that get what all of them gather.
#pragma once

#include <cstdint>

namespace shoal::training {

enum class Receivers : std::uint8_t { kAll, kRankZero };

}  // namespace shoal::training
