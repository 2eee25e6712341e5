// SPDX-License-Identifier: Apache-2.0
#include "text/bpe/added_token_finder.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "platform/runtime/random.h"

namespace shoal::tokens {
namespace {

// Writes "[x]" for a token and "x" for the text between tokens.
std::string Describe(const std::vector<AddedToken>& tokens, std::string_view text) {
  std::vector<std::string> forms;
  for (const AddedToken& token : tokens) forms.push_back(token.content);
  const AddedTokenFinder finder(tokens, forms);
  std::vector<TextPiece> pieces;
  finder.Split(text, pieces);
  std::string described;
  for (const TextPiece& piece : pieces) {
    const std::string part(text.substr(piece.range.begin, piece.range.end - piece.range.begin));
    described += piece.token == TextPiece::kText ? part : "[" + part + "]";
  }
  return described;
}

TEST_CASE("of tokens that start together the longest is found", "[added_token_finder]") {
  const std::vector<AddedToken> tokens = {{.id = 1, .content = "/v1"},
                                          {.id = 2, .content = "/v1/Systems"},
                                          {.id = 3, .content = "1/S"}};
  REQUIRE(Describe(tokens, "a/v1/Systems/v1/Sys") == "a[/v1/Systems][/v1]/Sys");
  REQUIRE(Describe(tokens, "") == "");
  REQUIRE(Describe({}, "text") == "text");
}

TEST_CASE("a single word is found between what is no part of a word", "[added_token_finder]") {
  const std::vector<AddedToken> tokens = {{.id = 1, .content = "On", .single_word = true}};
  REQUIRE(Describe(tokens, "On Only _On \"On\" On1 éOn On\u0301") ==
          "[On] Only _On \"[On]\" On1 éOn On\u0301");
}

TEST_CASE("a single word that is refused is passed over whole", "[added_token_finder]") {
  const std::vector<AddedToken> tokens = {{.id = 1, .content = "abab", .single_word = true},
                                          {.id = 2, .content = "ab"}};
  REQUIRE(Describe(tokens, "ababab") == "abab[ab]");
}

TEST_CASE("tokens take white space along", "[added_token_finder]") {
  REQUIRE(Describe({{.id = 1, .content = "x", .lstrip = true}}, "a \u3000x b") == "a[ \u3000x] b");
  REQUIRE(Describe({{.id = 1, .content = "x", .rstrip = true}}, "a x \n b") == "a [x \n ]b");
  REQUIRE(Describe({{.id = 1, .content = "x", .lstrip = true, .rstrip = true}}, " x x ") ==
          "[ x ][x ]");
}

TEST_CASE("random tokens are found where a plain search finds them", "[added_token_finder]") {
  runtime::Random random(8);
  const auto word = [&random](std::uint64_t longest) {
    std::string text;
    const std::uint64_t size = 1 + random.Below(longest);
    while (text.size() < size) text.push_back("abc"[random.Below(3)]);
    return text;
  };
  for (int round = 0; round < 2000; ++round) {
    std::vector<AddedToken> tokens;
    for (std::int32_t i = 0; i < 6; ++i) tokens.push_back({.id = i, .content = word(4)});
    const std::string text = word(30);
    std::string expected;
    for (std::size_t at = 0; at < text.size();) {
      std::size_t longest = 0;
      for (const AddedToken& token : tokens) {
        if (text.compare(at, token.content.size(), token.content) == 0) {
          longest = std::max(longest, token.content.size());
        }
      }
      expected += longest == 0 ? text.substr(at, 1) : "[" + text.substr(at, longest) + "]";
      at += std::max<std::size_t>(longest, 1);
    }
    REQUIRE(Describe(tokens, text) == expected);
  }
}

}  // namespace
}  // namespace shoal::tokens
