// SPDX-License-Identifier: Apache-2.0
#include "text/bpe/pattern.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace shoal::tokens {
namespace {

using Texts = std::vector<std::string>;

Texts MatchesOf(std::string_view expression, std::string_view text) {
  const auto pattern = Pattern::Compile(expression);
  REQUIRE(pattern.ok());
  Pattern::Scratch scratch;
  std::vector<TextRange> matches;
  REQUIRE((*pattern)->FindAll(text, scratch, matches).ok());
  Texts found;
  for (const TextRange& match : matches) {
    found.emplace_back(text.substr(match.begin, match.end - match.begin));
  }
  return found;
}

std::string ErrorOf(std::string_view expression) {
  return std::string(Pattern::Compile(expression).status().message());
}

TEST_CASE("matches are found from left to right, empty ones not after a match", "[pattern]") {
  REQUIRE(MatchesOf(R"(\p{L}+)", "ab 中é, x") == Texts{"ab", "中é", "x"});
  REQUIRE(MatchesOf("(?<=[a-z])(?=[A-Z])", "aBcDE") == Texts{"", ""});
  REQUIRE(MatchesOf("b*", "abb") == Texts{"", "bb"});
  REQUIRE(MatchesOf(".", "").empty());
}

TEST_CASE("white space is Unicode's", "[pattern]") {
  REQUIRE(MatchesOf(R"([\s]+)",
                    "a\xC2\x85\xE3\x80\x80"
                    "b\xE1\xA0\x8E") == Texts{"\xC2\x85\xE3\x80\x80"});
}

TEST_CASE("stray bytes are one character each and keep their places", "[pattern]") {
  REQUIRE(MatchesOf(R"([^\sa-z]+)", "a\xFF\x80 \xC3z\xE4\xB8\xAD") ==
          Texts{"\xFF\x80", "\xC3", "\xE4\xB8\xAD"});
  REQUIRE(MatchesOf("^.z", "\xFFz") == Texts{"\xFFz"});
}

TEST_CASE("a literal matches itself", "[pattern]") {
  const auto pattern = Pattern::Literal("a.[\\E");
  REQUIRE(pattern.ok());
  Pattern::Scratch scratch;
  std::vector<TextRange> matches;
  REQUIRE((*pattern)->FindAll("abx a.[\\E", scratch, matches).ok());
  REQUIRE(matches == std::vector<TextRange>{{4, 9}});
  REQUIRE_FALSE(Pattern::Literal("").ok());
}

TEST_CASE("what regular expression engines read differently is refused with its offset",
          "[pattern]") {
  for (const auto& [expression, offset] :
       std::vector<std::pair<std::string, std::string>>{{R"(ab\w)", "offset 2"},
                                                        {R"(\h)", "offset 0"},
                                                        {R"((a)\1)", "offset 3"},
                                                        {"[a[b]]", "offset 2"},
                                                        {"[a&&b]", "offset 2"},
                                                        {"[]a]", "offset 1"},
                                                        {"x{1,3}+", "offset 5"},
                                                        {"(?m:a)", "offset 0"},
                                                        {"(?<n>a)", "offset 0"},
                                                        {"a(*UCP)", "offset 1"},
                                                        {"a\\", "offset 1"},
                                                        {"a\xFF", "no UTF-8"},
                                                        {"a)", "offset 1"},
                                                        {"(a", "offset 2"}}) {
    INFO(expression);
    REQUIRE(ErrorOf(expression).find(offset) != std::string::npos);
  }
}

TEST_CASE("an expression that would never end is an error", "[pattern]") {
  const auto pattern = Pattern::Compile("(?:a+)+[bd]");
  REQUIRE(pattern.ok());
  Pattern::Scratch scratch;
  std::vector<TextRange> matches;
  const auto status = (*pattern)->FindAll(std::string(5000, 'a') + "c", scratch, matches);
  REQUIRE(absl::IsResourceExhausted(status));
}

}  // namespace
}  // namespace shoal::tokens
