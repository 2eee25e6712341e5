// SPDX-License-Identifier: Apache-2.0
// Changes a text before BERT splits it into words, as the `BertNormalizer` of a tokenizer.json
// says.
//
// The steps are in this order, and each can be switched off: characters that carry no text vanish
// and white space becomes spaces; spaces are put around ideographs; accents are stripped; capitals
// become small letters. A byte outside UTF-8 is U+FFFD, which the first step drops. Accents that
// remain (marks with a width of their own) keep their order, even where form D would sort them.
// Immutable; thread-safe.
#pragma once

#include <string>
#include <string_view>

namespace shoal::tokens {

struct BertNormalizer {
  bool clean_text = true;
  bool handle_chinese_characters = true;
  bool strip_accents = true;
  bool lowercase = true;

  std::string Apply(std::string_view text) const;

  friend bool operator==(const BertNormalizer&, const BertNormalizer&) = default;
};

}  // namespace shoal::tokens
