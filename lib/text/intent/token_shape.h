// SPDX-License-Identifier: Apache-2.0
// Which characters a token has, by which values are told from words.
#pragma once

#include <string_view>

#include "text/intent/sentence.h"

namespace shoal::intent {

struct TokenShape {
  bool digit = false;
  bool upper = false;
  // A byte of a letter beyond ASCII counts as lower case.
  bool lower = false;
  // A capital that is not the first character.
  bool inner_upper = false;
  // One of "-_.".
  bool dash = false;
  // Any other character, except for an apostrophe.
  bool sign = false;

  // Whether a plain word could look like that: without digits, signs and capitals inside.
  bool is_plain() const { return !digit && !sign && !inner_upper; }
};

TokenShape ShapeOf(std::string_view text);

// Returns whether a token looks like a value rather than a word: it is a quotation, or is not
// plain.
bool LooksLikeValue(const Token& token);

}  // namespace shoal::intent
