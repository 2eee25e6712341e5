// SPDX-License-Identifier: Apache-2.0
#include "text/wordpiece/bert_normalizer.h"

#include <cstddef>
#include <cstdint>

#include "text/bpe/code_points.h"
#include "text/wordpiece/bert_characters.h"

namespace shoal::tokens {

std::string BertNormalizer::Apply(std::string_view text) const {
  std::string stripped;
  stripped.reserve(text.size());
  const auto append = [&](char32_t value) {
    if (strip_accents) {
      AppendWithoutAccents(value, stripped);
    } else {
      AppendUtf8(value, stripped);
    }
  };
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint read = ReadCodePoint(text, at);
    at += read.bytes;
    const std::uint8_t classes = BertClassesOf(read.value);
    if (clean_text && (classes & kBertDropped) != 0) continue;
    if (clean_text && (classes & kBertSpace) != 0) {
      stripped.push_back(' ');
    } else if (handle_chinese_characters && (classes & kBertIdeograph) != 0) {
      stripped.push_back(' ');
      append(read.value);
      stripped.push_back(' ');
    } else {
      append(read.value);
    }
  }
  if (!lowercase) return stripped;
  std::string lowered;
  lowered.reserve(stripped.size());
  AppendLowered(stripped, lowered);
  return lowered;
}

}  // namespace shoal::tokens
