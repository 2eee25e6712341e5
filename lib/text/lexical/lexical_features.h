// SPDX-License-Identifier: Apache-2.0
// The hashed features of a part of a text: words, pairs of neighbouring words, and character
// 3-grams and 4-grams of words.
//
// Function words are skipped, except where a run counts them: they are not features, and the words
// around one still form a pair.
// The grams of a word together weigh as much as `kGramWeight` words, so that a long word does not
// count for more than a short one.
#pragma once

#include <cstdint>
#include <vector>

#include "text/lexical/text_parts.h"

namespace shoal::tokens {

struct Feature {
  std::uint64_t hash = 0;
  float weight = 0;
};

// Returns one entry for each distinct feature, ascending by hash, with weight = mean weight * (1 +
// ln count).
std::vector<Feature> LexicalFeatures(const Part& part);

}  // namespace shoal::tokens
