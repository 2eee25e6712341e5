// SPDX-License-Identifier: Apache-2.0
// Noise in the sentences of training: words are left out and mistyped, so that a policy learns to
// do without any one word and any one spelling.
//
// Words are separated by spaces. A word with a "{name}" or a digit and a number that is written out
// stay as they are, since without these values nobody knows the request. "One" counts as a number.
// Leaving words out is the word dropout of Iyyer et al., "Deep Unordered Composition Rivals
// Syntactic Methods for Text Classification", ACL 2015.
#pragma once

#include <string>
#include <string_view>

#include "platform/runtime/random.h"

namespace shoal::redfish {

struct TextNoise {
  // The share of words that are left out, in [0, 1].
  double word_dropout = 0.0;
  // The share of longer words that are mistyped, in [0, 1].
  double typos = 0.0;
};

// Returns `phrase` without about `share` of its words, each by a draw of its own. A phrase that
// would lose every word stays whole. A share of 0 draws nothing.
std::string DropWords(std::string_view phrase, double share, runtime::Random& random);

// Returns `phrase` with a typo in about `share` of its words of at least four letters: two letters
// are swapped, one is left out, or one is doubled. First letters stay, and so do words that contain
// anything but letters, other than a mark at their end: names such as "RAID1" and "old*.invalid"
// are never mistyped. A share of 0 draws nothing.
std::string AddTypos(std::string_view phrase, double share, runtime::Random& random);

// Returns `phrase` with both kinds of noise.
std::string AddNoise(std::string_view phrase, const TextNoise& noise, runtime::Random& random);

}  // namespace shoal::redfish
