// SPDX-License-Identifier: Apache-2.0
// One value for each code point, in pages of which equal ones are stored once.
//
// Immutable; thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace shoal::tokens {

inline constexpr std::size_t kCodePoints = 0x110000;

// REQUIRES: `Value` is an integer type.
template <typename Value>
class PagedTable {
 public:
  // REQUIRES: `values` has kCodePoints elements.
  explicit PagedTable(const std::vector<Value>& values) {
    std::unordered_map<std::string, std::uint16_t> known;
    for (std::size_t page = 0; page < kPages; ++page) {
      const Value* begin = values.data() + page * kPageSize;
      const std::string bytes(reinterpret_cast<const char*>(begin), kPageSize * sizeof(Value));
      const auto number = static_cast<std::uint16_t>(known.size());
      const auto [entry, is_new] = known.try_emplace(bytes, number);
      page_[page] = entry->second;
      if (is_new) values_.insert(values_.end(), begin, begin + kPageSize);
    }
  }

  // REQUIRES: code_point < kCodePoints.
  Value At(char32_t code_point) const {
    return values_[page_[code_point / kPageSize] * kPageSize + code_point % kPageSize];
  }

 private:
  static constexpr std::size_t kPageSize = 256;
  static constexpr std::size_t kPages = kCodePoints / kPageSize;

  std::array<std::uint16_t, kPages> page_{};
  std::vector<Value> values_;
};

}  // namespace shoal::tokens
