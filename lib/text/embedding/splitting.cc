// SPDX-License-Identifier: Apache-2.0
#include "text/embedding/splitting.h"

#include <cstdint>
#include <utility>

#include "platform/content/segments.h"
#include "text/lexical/phrases.h"

namespace shoal::embedding {
namespace {

std::string_view CutAtCharacter(std::string_view text, std::size_t bytes) {
  if (text.size() <= bytes) return text;
  // A character has four bytes at most; text that is not UTF-8 is cut at `bytes`.
  for (std::size_t end = bytes; end + 3 >= bytes; --end) {
    if ((static_cast<std::uint8_t>(text[end]) & 0xC0) != 0x80) return text.substr(0, end);
  }
  return text.substr(0, bytes);
}

}  // namespace

Splitting SegmentSplitting() {
  return {"chunked1", [](std::string_view text) {
            std::vector<WeightedText> parts;
            for (const std::string_view segment :
                 content::SplitSegments(CutAtCharacter(text, kMaxSegmentedBytes), {})) {
              parts.push_back({std::string(segment), static_cast<float>(segment.size())});
            }
            return parts;
          }};
}

Splitting PhraseSplitting() {
  return {"phrases1", [](std::string_view text) {
            std::vector<WeightedText> parts;
            for (tokens::Phrase& phrase : tokens::SplitIntoPhrases(text)) {
              parts.push_back({std::move(phrase.text), phrase.weight});
            }
            return parts;
          }};
}

}  // namespace shoal::embedding
