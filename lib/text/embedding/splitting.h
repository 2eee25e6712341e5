// SPDX-License-Identifier: Apache-2.0
// How a text is split into parts whose vectors make up its own (chunked_encoder.h).
//
// A splitting is a function of the text alone. Stateless; thread-safe.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::embedding {

struct WeightedText {
  std::string text;
  float weight = 1;
};

struct Splitting {
  // A part of an encoder's version. Another name stands for other parts of the same text.
  std::string name;
  std::function<std::vector<WeightedText>(std::string_view text)> split;
};

// Returns the segments of content::SplitSegments with default options, weighted by their bytes, so
// that most candidates and sentences stay whole. The text is cut after kMaxSegmentedBytes, at a
// UTF-8 boundary.
inline constexpr std::size_t kMaxSegmentedBytes = std::size_t{32} << 10;
Splitting SegmentSplitting();

// Returns the phrases of tokens::SplitIntoPhrases with their weights.
Splitting PhraseSplitting();

}  // namespace shoal::embedding
