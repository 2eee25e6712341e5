// SPDX-License-Identifier: Apache-2.0
// bfloat16: the upper half of a float32, so its range with eight bits of precision. Functions of
// their arguments alone, without branches, so that loops over them become vector code.
#pragma once

#include <bit>
#include <cstdint>

namespace shoal::runtime {

// Rounds to nearest, ties to even. What is out of range becomes infinite, and infinities and NaNs
// stay what they are.
inline std::uint16_t ToBFloat16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
  const std::uint32_t quiet = (bits >> 16) | 0x40;
  const bool is_nan = (bits & 0x7fffffff) > 0x7f800000;
  return static_cast<std::uint16_t>(is_nan ? quiet : rounded);
}

inline float FromBFloat16(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

}  // namespace shoal::runtime
