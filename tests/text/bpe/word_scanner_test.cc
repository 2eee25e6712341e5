// SPDX-License-Identifier: Apache-2.0
#include "text/bpe/pre_tokenizer.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "platform/runtime/random.h"
#include "text/bpe/code_points.h"
#include "text/bpe/pattern.h"

namespace shoal::tokens {
namespace {

using Words = std::vector<std::string>;

Words ScannedWords(std::string_view text) {
  Words words;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = WordEnd(text, at);
    REQUIRE(end > at);
    words.emplace_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

// Ranges in which no character was added or changed after Unicode 14, which PCRE2 knows.
constexpr std::pair<char32_t, char32_t> kOldRanges[] = {
    {0x00, 0x7F},     {0x20, 0x2F},     {0x27, 0x27},     {0x61, 0x7A},       {0x80, 0x17F},
    {0x300, 0x36F},   {0x660, 0x669},   {0x1680, 0x1680}, {0x180E, 0x180E},   {0x2000, 0x2064},
    {0x2160, 0x2188}, {0x3000, 0x30FF}, {0x4E00, 0x4FFF}, {0x1F300, 0x1F64F}, {0x20, 0x20}};

std::string RandomText(runtime::Random& random) {
  constexpr std::string_view kContractions[] = {"'s", "'re", "'ll", "'S", " '", "''"};
  std::string text;
  const std::uint64_t size = 1 + random.Below(24);
  for (std::uint64_t i = 0; i < size; ++i) {
    const std::uint64_t kind = random.Below(12);
    if (kind == 0) {
      text.append(kContractions[random.Below(std::size(kContractions))]);
    } else if (kind == 1) {
      text.push_back(static_cast<char>(0x80 + random.Below(0x80)));
    } else {
      const auto [first, last] = kOldRanges[random.Below(std::size(kOldRanges))];
      const auto value = first + static_cast<char32_t>(random.Below(last - first + 1));
      const std::uint64_t repeats = 1 + random.Below(3);
      for (std::uint64_t n = 0; n < repeats; ++n) AppendUtf8(value, text);
    }
  }
  return text;
}

TEST_CASE("words take the space before them, and contractions stand alone", "[word_scanner]") {
  REQUIRE(ScannedWords("Hello, world!") == Words{"Hello", ",", " world", "!"});
  REQUIRE(ScannedWords("I'm it'S we'll") == Words{"I", "'m", " it", "'", "S", " we", "'ll"});
  REQUIRE(ScannedWords("v1_13") == Words{"v", "1", "_", "13"});
  REQUIRE(ScannedWords(R"({"a":1})") == Words{"{\"", "a", "\":", "1", "}"});
}

TEST_CASE("of several spaces the last goes with what follows", "[word_scanner]") {
  REQUIRE(ScannedWords("a   b") == Words{"a", "  ", " b"});
  REQUIRE(ScannedWords("a \n b") == Words{"a", " \n", " b"});
  REQUIRE(ScannedWords("a\n\nb") == Words{"a", "\n", "\n", "b"});
  REQUIRE(ScannedWords("a  ") == Words{"a", "  "});
  REQUIRE(ScannedWords(" ") == Words{" "});
  REQUIRE(ScannedWords("a\xC2\xA0 b") == Words{"a", "\xC2\xA0", " b"});
}

TEST_CASE("words are those of PCRE2 on random texts, well-formed or not", "[word_scanner]") {
  const auto pattern = Pattern::Compile(kGpt2Pattern);
  REQUIRE(pattern.ok());
  Pattern::Scratch scratch;
  std::vector<TextRange> matches;
  runtime::Random random(20);
  for (int round = 0; round < 30'000; ++round) {
    const std::string text = RandomText(random);
    REQUIRE((*pattern)->FindAll(text, scratch, matches).ok());
    Words expected;
    for (const TextRange& match : matches) {
      expected.push_back(text.substr(match.begin, match.end - match.begin));
    }
    const Words words = ScannedWords(text);
    if (words != expected) {
      INFO(text);
      REQUIRE(words == expected);
    }
  }
}

}  // namespace
}  // namespace shoal::tokens
