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
    const std::string text = DropWords("lamps of these servers shall all blink {X}", 0.25, random);
    left += static_cast<int>(WordsOf(text).size()) - 1;
    texts.insert(text);
  }
  // With 28,000 samples five standard deviations are 0.013.
  REQUIRE(left / (7.0 * kDraws) == Approx(0.75).margin(0.013));
  REQUIRE(texts.size() > 100);
}

TEST_CASE("Numbers are never left out, in figures or in words") {
  runtime::Random random(1);
  REQUIRE(DropWords("lock it after five, no: 6 (or RAID10) failures", 1, random) ==
          "five, 6 RAID10)");
}

TEST_CASE("A phrase never becomes empty") {
  runtime::Random random(1);
  REQUIRE(DropWords("Turn it on", 1, random) == "Turn it on");
  REQUIRE(DropWords("Turn {system} on", 1, random) == "{system}");
  REQUIRE(DropWords("", 1, random).empty());
}

TEST_CASE("Without typos a phrase stays as it is, and nothing is drawn") {
  runtime::Random random(1);
  REQUIRE(AddTypos(" two  spaces ", 0, random) == " two  spaces ");
  REQUIRE(random() == runtime::Random(1)());
}

TEST_CASE("A typo swaps, drops or doubles a letter, and never the first one") {
  runtime::Random random(1);
  std::set<std::string> typed;
  for (int i = 0; i < 200; ++i) typed.insert(AddTypos("boot,", 1, random));
  for (const std::string& word : typed) {
    INFO(word);
    REQUIRE(word.front() == 'b');
    REQUIRE(word.back() == ',');
    REQUIRE(word.size() >= 4);
    REQUIRE(word.size() <= 6);
  }
  REQUIRE(typed.contains("bot,"));
  REQUIRE(typed.contains("booot,"));
}

TEST_CASE("Values, names and short words are never mistyped") {
  runtime::Random random(1);
  const std::string phrase = "put {AssetTag} on it, RAID1 BootMode-2 old*.invalid";
  for (int i = 0; i < 100; ++i) REQUIRE(AddTypos(phrase, 1, random) == phrase);
}

}  // namespace
}  // namespace shoal::redfish
