// SPDX-License-Identifier: Apache-2.0
#include "redfish/goals/text_noise.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace shoal::redfish {
namespace {

constexpr const char* kPhrase = "Add the account {UserName} with the password {Password}, please.";

std::vector<std::string> WordsOf(const std::string& text) {
  std::istringstream words(text);
  std::vector<std::string> all;
  for (std::string word; words >> word;) all.push_back(word);
  return all;
}

TEST_CASE("Without dropout a phrase stays as it is, and nothing is drawn") {
  runtime::Random random(1);
  REQUIRE(DropWords("  two  spaces ", 0, random) == "  two  spaces ");
  REQUIRE(random() == runtime::Random(1)());
}

TEST_CASE("What is left of a phrase keeps its order and every word that stands for a value") {
  runtime::Random random(1);
  const std::vector<std::string> whole = WordsOf(kPhrase);
  for (int draw = 0; draw < 200; ++draw) {
    const std::vector<std::string> left = WordsOf(DropWords(kPhrase, 0.5, random));
    auto at = whole.begin();
    int values = 0;
    for (const std::string& word : left) {
      at = std::find(at, whole.end(), word);
      REQUIRE(at != whole.end());
      ++at;
      values += word.find('{') != std::string::npos ? 1 : 0;
    }
    REQUIRE(values == 2);
  }
}

TEST_CASE("Each word goes as often as was asked for") {
  runtime::Random random(1);
  constexpr int kDraws = 4000;
  int left = 0;
  std::set<std::string> texts;
  for (int draw = 0; draw < kDraws; ++draw) {
    const std::string text = DropWords("one two three four five six seven {X}", 0.25, random);
    left += static_cast<int>(WordsOf(text).size()) - 1;
    texts.insert(text);
  }
  // With 28,000 samples five standard deviations are 0.013.
  REQUIRE(left / (7.0 * kDraws) == Approx(0.75).margin(0.013));
  REQUIRE(texts.size() > 100);
}

TEST_CASE("A phrase never becomes empty") {
  runtime::Random random(1);
  REQUIRE(DropWords("Turn it on", 1, random) == "Turn it on");
  REQUIRE(DropWords("Turn {system} on", 1, random) == "{system}");
  REQUIRE(DropWords("", 1, random).empty());
}

}  // namespace
}  // namespace shoal::redfish
