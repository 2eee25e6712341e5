// SPDX-License-Identifier: Apache-2.0
// Cuts a long canonical text into segments, so that one changed property re-encodes one segment.
//
// A cut depends on the bytes right before it alone, never on its distance from the start: an
// insertion moves the cuts of the segments that it touches and no others. Cuts are placed after
// commas and closing brackets, so a segment holds whole properties.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace shoal::content {

struct SegmentOptions {
  // No segment is shorter, but the last. 0 counts as 1.
  std::size_t minimum_bytes = 256;
  // A cut is expected after about this many more bytes. Values below 2 cut at every comma.
  std::size_t expected_bytes = 512;
  // A segment of this length is cut wherever it stands (at a UTF-8 boundary). Raised to
  // `minimum_bytes` when below it.
  std::size_t maximum_bytes = 2048;
};

// Views into `text` that follow one another and cover it; none for the empty text.
std::vector<std::string_view> SplitSegments(std::string_view text, const SegmentOptions& options);

}  // namespace shoal::content
