// SPDX-License-Identifier: Apache-2.0
#include "platform/content/segments.h"

#include <algorithm>
#include <cstdint>

namespace shoal::content {
namespace {

constexpr std::size_t kWindowBytes = 24;

// Returns FNV-1a of the bytes right before `end`, mixed so that all bits count in a remainder.
std::uint64_t HashBefore(std::string_view text, std::size_t end) {
  const std::size_t begin = end > kWindowBytes ? end - kWindowBytes : 0;
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (std::size_t i = begin; i < end; ++i) {
    hash = (hash ^ static_cast<std::uint8_t>(text[i])) * 0x100000001b3u;
  }
  return (hash ^ (hash >> 29)) * 0xbf58476d1ce4e5b9u >> 32;
}

bool MayCutAfter(char c) { return c == ',' || c == '}' || c == ']'; }

// Canonical JSON has a comma about every 24 bytes, so cutting at one place in expected_bytes / 24
// gives the expected length.
constexpr std::size_t kBytesPerPlace = 24;

std::size_t BackToCharacterStart(std::string_view text, std::size_t position, std::size_t lowest) {
  while (position > lowest + 1 && position < text.size() &&
         (static_cast<std::uint8_t>(text[position]) & 0xC0) == 0x80) {
    --position;
  }
  return position;
}

}  // namespace

std::vector<std::string_view> SplitSegments(std::string_view text, const SegmentOptions& options) {
  const std::size_t minimum = std::max<std::size_t>(options.minimum_bytes, 1);
  const std::size_t maximum = std::max(options.maximum_bytes, minimum);
  const std::size_t divisor = std::max<std::size_t>(options.expected_bytes / kBytesPerPlace, 1);
  std::vector<std::string_view> segments;
  std::size_t begin = 0;
  for (std::size_t end = 1; end <= text.size(); ++end) {
    const std::size_t length = end - begin;
    bool cut = end == text.size();
    if (!cut && length >= maximum) {
      end = BackToCharacterStart(text, end, begin);
      cut = true;
    } else if (!cut && length >= minimum && MayCutAfter(text[end - 1])) {
      cut = HashBefore(text, end) % divisor == 0;
    }
    if (!cut) continue;
    segments.push_back(text.substr(begin, end - begin));
    begin = end;
  }
  return segments;
}

}  // namespace shoal::content
