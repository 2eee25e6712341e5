// SPDX-License-Identifier: Apache-2.0
// Hash maps with text keys that are looked up by std::string_view without a copy; abseil's own maps
// need abseil's string_view for that. TextMap moves its values when it grows, StableTextMap does
// not.
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
