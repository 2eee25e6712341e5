// SPDX-License-Identifier: Apache-2.0
// A hash map from text that is asked with a std::string_view without a copy; abseil's own needs
// its own string_view for that. Moves its values when it grows, unlike StableTextMap.
#pragma once

#include <absl/container/flat_hash_map.h>
#include <absl/container/node_hash_map.h>

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace shoal::runtime {

struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>{}(text);
  }
};

template <typename Value>
using TextMap = absl::flat_hash_map<std::string, Value, TextHash, std::equal_to<>>;
template <typename Value>
using StableTextMap = absl::node_hash_map<std::string, Value, TextHash, std::equal_to<>>;

}  // namespace shoal::runtime
