// SPDX-License-Identifier: Apache-2.0
// Puts a text into weighted phrases of English, for an encoder of sentences.
//
// - A candidate, JSON {method, uri, type, name, action, body, host}, becomes what is done to what
//   kind of resource ("set Boot Source Override Target to Pxe of Computer System", "create Manager
//   Account with Role Id Operator"), the resource's name, its host, and the parts of its URI. The
//   phrases of a service repeat: 10,000 candidates have some 2,000, so the vector of a candidate,
//   the sum of its phrases' vectors, costs little. A slot such as <goal.AssetTag> is left out of
//   the phrase, since its value is not known.
// - The description of a value, JSON {choice}, is one phrase as it stands.
// - A goal, JSON {goal, around}, is its sentence.
// - Another JSON object, such as a resource's body, has a phrase for each leaf, "Power State: On",
//   weighted 1 / depth; the shallowest kMaxPhrases count, of equally deep ones the first. Links and
//   members with "@" in their names are left out.
// - Anything else, such as a sentence, is one phrase as it stands.
//
// The first words of a value count. A text without words has no phrase. Phrases are cut after about
// kMaxPhraseBytes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::tokens {

inline constexpr std::size_t kMaxPhrases = 32;
inline constexpr std::size_t kMaxPhraseBytes = 2000;

struct Phrase {
  std::string text;
  float weight = 1;

  friend bool operator==(const Phrase&, const Phrase&) = default;
};

std::vector<Phrase> SplitIntoPhrases(std::string_view text);

}  // namespace shoal::tokens
