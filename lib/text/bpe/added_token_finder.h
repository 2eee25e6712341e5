// SPDX-License-Identifier: Apache-2.0
// Finds added tokens in a text: from left to right, of those that start at the same place the
// longest.
//
// A match that single_word refuses is passed over whole, as Hugging Face does. One byte of text
// costs one table lookup until a token's first byte is met, and then a step a byte down a trie.
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

// A token that is found in a text as it stands, before the text is split into words:
// "<|endoftext|>", or "/redfish/v1/Systems". The fields are those of `added_tokens` in a
// tokenizer.json.
struct AddedToken {
  std::int32_t id = 0;
  std::string content;
  // Found only between characters that are no part of a word (kWordCharacter), so that "On" is not
  // found in "Only".
  bool single_word = false;
  // Takes the white space before it, or after it, along: decoding does not give that back.
  bool lstrip = false;
  bool rstrip = false;
  // Looked for in the normalised text; otherwise in the text as it came.
  bool normalized = false;
  // Says what it is for alone; matches like any other.
  bool special = false;

  bool operator==(const AddedToken&) const = default;
};

// A part of a text: an added token, or text between them.
struct TextPiece {
  static constexpr std::int32_t kText = -1;

  TextRange range;
  std::int32_t token = kText;
};

class AddedTokenFinder {
 public:
  // `forms`: how each of `tokens` is written where it is looked for; an empty one is not looked
  // for, and of equal ones the first counts. REQUIRES: as many of them.
  AddedTokenFinder(std::vector<AddedToken> tokens, const std::vector<std::string>& forms);

  // Nothing is looked for.
  bool empty() const { return nodes_.size() == 1; }

  // Appends the pieces of `text`, without empty ones.
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
  // The first place from `at` on where a token may start; the text's size for none.
  std::size_t NextStart(std::string_view text, std::size_t at) const;
  Match LongestAt(std::string_view text, std::size_t at) const;

  std::vector<AddedToken> tokens_;
  std::vector<Node> nodes_;  // the root first
  std::vector<Edge> edges_;  // of one node: by byte
  std::array<std::uint32_t, 256> root_{};
  // The only byte that tokens start with, if it is only one.
  int only_start_ = -1;
};

}  // namespace shoal::tokens
