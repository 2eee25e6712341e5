// SPDX-License-Identifier: Apache-2.0
// The versions whose items a table refuses: ranges in order, of which no two overlap or follow each
// other without a gap. Null means none. Never changed, so that records and tables share them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "replay/item.h"

namespace shoal::replay {

// The most ranges that a table takes.
inline constexpr std::size_t kMostExcludedRanges = 1024;

using ExcludedVersions = std::shared_ptr<const std::vector<VersionRange>>;

inline std::size_t CountOf(const ExcludedVersions& excluded) {
  return excluded == nullptr ? 0 : excluded->size();
}

// Returns `excluded` with the versions of `range`, too. REQUIRES: range.first <= range.last.
inline ExcludedVersions With(const ExcludedVersions& excluded, VersionRange range) {
  const auto after = [](const PolicyVersion& version) -> PolicyVersion {
    if (version.step == std::numeric_limits<std::uint64_t>::max()) return version;
    return {.epoch = version.epoch, .step = version.step + 1};
  };
  auto merged = std::make_shared<std::vector<VersionRange>>();
  if (excluded != nullptr) {
    for (const VersionRange& other : *excluded) {
      if (other.first <= after(range.last) && range.first <= after(other.last)) {
        range = {.first = std::min(range.first, other.first),
                 .last = std::max(range.last, other.last)};
      } else {
        merged->push_back(other);
      }
    }
  }
  const auto place = std::ranges::find_if(
      *merged, [&range](const VersionRange& other) { return range.first < other.first; });
  merged->insert(place, range);
  return merged;
}

}  // namespace shoal::replay
