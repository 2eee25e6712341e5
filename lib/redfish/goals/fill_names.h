// SPDX-License-Identifier: Apache-2.0
// Texts that speak of values by name: "PXE boot of {system}".
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace shoal::redfish {

// `text` with every "{name}" replaced by what `find(std::string_view name)` says, an
// std::optional<std::string>; one that it knows nothing of stays as it is.
template <typename Find>
std::string FillNames(std::string_view text, const Find& find) {
  std::string filled;
  while (!text.empty()) {
    const std::size_t open = text.find('{');
    const std::size_t close = open == text.npos ? open : text.find('}', open);
    if (close == text.npos) break;
    const std::optional<std::string> value = find(text.substr(open + 1, close - open - 1));
    filled += text.substr(0, open);
    filled += value ? std::string_view(*value) : text.substr(open, close - open + 1);
    text.remove_prefix(close + 1);
  }
  filled += text;
  return filled;
}

}  // namespace shoal::redfish
