// SPDX-License-Identifier: Apache-2.0
// Finds added tokens in a text, from left to right; of tokens that start at the same place, the
// longest wins.
//
// A match that single_word rejects is skipped as a whole, as in Hugging Face. Each byte of text
// costs one table lookup until a token's first byte is met, and from then on one step in a trie.
// Immutable; thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "text/bpe/pattern.h"

namespace shoal::tokens {

// A token that is matched verbatim before the text is split into words, such as "<|endoftext|>" or
// "/redfish/v1/Systems". The fields are those of `added_tokens` in a tokenizer.json.
struct AddedToken {
  std::int32_t id = 0;
  std::string content;
  // Match only between characters that are not part of a word (kWordCharacter), so that "On" does
  // not match in "Only".
  bool single_word = false;
  // Include the white space before (lstrip) or after (rstrip) the match; decoding does not restore
  // it.
  bool lstrip = false;
  bool rstrip = false;
  // Match in the normalised text; otherwise in the original text.
  bool normalized = false;
  // Only describes the token's purpose; a special token matches like any other.
  bool special = false;

  bool operator==(const AddedToken&) const = default;
};

// A part of a text: an added token, or the text between added tokens.
struct TextPiece {
  static constexpr std::int32_t kText = -1;

  TextRange range;
  std::int32_t token = kText;
};

class AddedTokenFinder {
 public:
  // forms[i] is the text to match for tokens[i]. An empty form never matches; of equal forms the
  // first counts. REQUIRES: equal sizes.
  AddedTokenFinder(std::vector<AddedToken> tokens, const std::vector<std::string>& forms);

  // True when there is nothing to match.
  bool empty() const { return nodes_.size() == 1; }

  // Appends the non-empty pieces of `text`.
  void Split(std::string_view text, std::vector<TextPiece>& pieces) const;

 private:
  struct Node {
    std::uint32_t first_edge = 0;
    std::uint32_t edges = 0;
    std::int32_t token = -1;  // index into tokens_
  };
  struct Edge {
    std::uint8_t byte;
    std::uint32_t node;
  };
  struct Match {
    std::int32_t token = -1;
    std::size_t end = 0;
  };

  std::uint32_t ChildOf(std::uint32_t node, std::uint8_t byte) const;
  // Returns the first place from `at` on where a token may start, or the text's size for none.
  std::size_t NextStart(std::string_view text, std::size_t at) const;
  Match LongestAt(std::string_view text, std::size_t at) const;

  std::vector<AddedToken> tokens_;
  std::vector<Node> nodes_;  // the root first
  std::vector<Edge> edges_;  // those of one node are sorted by byte
  std::array<std::uint32_t, 256> root_{};
  // The only byte that tokens start with, or -1 if there are several.
  int only_start_ = -1;
};

}  // namespace shoal::tokens
