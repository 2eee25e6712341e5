// SPDX-License-Identifier: Apache-2.0
// The bits of numbers in memory as unsigned numbers of the same width, for encodings that subtract
// and shuffle them whatever they mean.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace shoal::runtime {

// `from` and `to` may have any alignment.
template <typename T>
T Load(const char* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

template <typename T>
void Store(T value, char* to) {
  std::memcpy(to, &value, sizeof(T));
}

// Calls `visit` with a zero of the unsigned type of `bytes` bytes: 1, 2, 4 or 8, and 1 for any
// other number.
template <typename Visit>
void VisitUnsigned(std::size_t bytes, const Visit& visit) {
  switch (bytes) {
    case 8:
      return visit(std::uint64_t{0});
    case 4:
      return visit(std::uint32_t{0});
    case 2:
      return visit(std::uint16_t{0});
    default:
      return visit(std::uint8_t{0});
  }
}

}  // namespace shoal::runtime
