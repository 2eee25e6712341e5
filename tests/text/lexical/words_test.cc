// SPDX-License-Identifier: Apache-2.0
#include "text/lexical/words.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace shoal::tokens {
namespace {

std::vector<std::string> WordsOf(std::string_view text, std::size_t limit = 100) {
  std::vector<std::string> words;
  AppendWords(text, limit, words);
  return words;
}

using Words = std::vector<std::string>;

TEST_CASE("camelCase and a sentence give the same words", "[words]") {
  REQUIRE(WordsOf("AssetTag") == Words{"asset", "tag"});
  REQUIRE(WordsOf("asset tag") == Words{"asset", "tag"});
}

TEST_CASE("the last capital before a small letter starts a word", "[words]") {
  REQUIRE(WordsOf("HTTPPort") == Words{"http", "port"});
  REQUIRE(WordsOf("PXE") == Words{"pxe"});
  REQUIRE(WordsOf("IndicatorLED") == Words{"indicator", "led"});
}

TEST_CASE("digits are words of their own", "[words]") {
  REQUIRE(WordsOf("v1_13_0") == Words{"v", "1", "13", "0"});
}

TEST_CASE("longer words lose their endings, short ones and -ss, -us, -is do not", "[words]") {
  REQUIRE(WordsOf("Sessions enabled restarting") == Words{"session", "enabl", "restart"});
  REQUIRE(WordsOf("enable") == WordsOf("enabled"));
  REQUIRE(WordsOf("address status chassis dns") == Words{"address", "status", "chassis", "dns"});
}

TEST_CASE("a word in UTF-8 stays whole", "[words]") {
  REQUIRE(WordsOf("größe x") == Words{"größ", "x"});
}

TEST_CASE("words stop at the limit", "[words]") {
  REQUIRE(WordsOf("a b c d", 2) == Words{"a", "b"});
  REQUIRE(WordsOf("").empty());
}

TEST_CASE("articles are function words and states are not", "[words]") {
  REQUIRE(IsFunctionWord("the"));
  REQUIRE_FALSE(IsFunctionWord("on"));
  REQUIRE_FALSE(IsFunctionWord("off"));
}

}  // namespace
}  // namespace shoal::tokens
