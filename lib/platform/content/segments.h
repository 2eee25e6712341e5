// SPDX-License-Identifier: Apache-2.0
// Cuts a long canonical text into segments, so that one changed property re-encodes one segment.
//
// A cut depends only on the bytes right before it, never on its distance from the start. An
// insertion therefore moves the cuts of the segments that it touches and no others. Cuts are placed
// after commas and closing brackets, so a segment holds whole properties.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace shoal::content {

struct SegmentOptions {
  // The least length of every segment except the last. 0 counts as 1.
  std::size_t minimum_bytes = 256;
  // The expected number of further bytes before a cut. Values below 2 cut at every comma.
  std::size_t expected_bytes = 512;
  // A segment of this length is cut at any byte that is a UTF-8 boundary. Values below
  // `minimum_bytes` count as `minimum_bytes`.
  std::size_t maximum_bytes = 2048;
};

// Returns consecutive views that cover `text`; none for the empty text.
std::vector<std::string_view> SplitSegments(std::string_view text, const SegmentOptions& options);

}  // namespace shoal::content
