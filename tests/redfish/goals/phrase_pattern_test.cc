// SPDX-License-Identifier: Apache-2.0
#include "redfish/goals/phrase_pattern.h"

#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "redfish/goals/goal.h"
#include "redfish/goals/phrase_lists.h"
#include "tests/doubles/temporary_folder.h"

namespace shoal::redfish {
namespace {

PhrasePattern Pattern(const std::string& text, const PhrasePattern::Lists& lists = {}) {
  auto pattern = PhrasePattern::Parse(text, lists);
  INFO(pattern.status());
  REQUIRE(pattern.ok());
  return *pattern;
}

std::set<std::string> TextsOfPattern(const PhrasePattern& pattern) {
  std::set<std::string> texts;
  pattern.AddTexts(1000, texts);
  return texts;
}

TEST_CASE("A pattern stands for every choice of its alternatives and optional words") {
  const PhrasePattern pattern = Pattern("[please] <set|write <down|up>> {X}[, now|!]");
  const std::set<std::string> texts = TextsOfPattern(pattern);
  REQUIRE(texts.size() == 2 * 3 * 3);
  REQUIRE(texts.contains("set {X}"));
  REQUIRE(texts.contains("please write down {X}, now"));
  runtime::Random random(3);
  std::set<std::string> drawn;
  for (int i = 0; i < 1000; ++i) drawn.insert(pattern.Draw(random));
  REQUIRE(drawn == texts);
  for (const std::string& text : texts) REQUIRE(pattern.Generates(text));
}

TEST_CASE("A text without brackets is a pattern of itself") {
  const PhrasePattern pattern = Pattern("Turn (the system) on: {X}.");
  REQUIRE(TextsOfPattern(pattern) == std::set<std::string>{"Turn (the system) on: {X}."});
}

TEST_CASE("A pattern generates its texts in any capitals and with any marks, and no others") {
  const PhrasePattern pattern = Pattern("[please] turn <it|the box> on");
  REQUIRE(pattern.Generates("Please, turn the box on!"));
  REQUIRE_FALSE(pattern.Generates("please turn the box off"));
  REQUIRE_FALSE(pattern.Generates("turn on"));
  REQUIRE_FALSE(pattern.Generates("turn it on again"));
}

TEST_CASE("A name in brackets is one phrase of the list with that name") {
  PhrasePattern::Lists lists;
  lists.emplace("server", std::vector<PhrasePattern>{Pattern("the box"), Pattern("<my|our> host")});
  REQUIRE(TextsOfPattern(Pattern("boot <server>", lists)) ==
          std::set<std::string>{"boot the box", "boot my host", "boot our host"});
}

TEST_CASE("The same random sequence draws the same texts") {
  const PhrasePattern pattern = Pattern("[a|b|c] <d|e|f> [g]");
  runtime::Random one(7);
  runtime::Random other(7);
  for (int i = 0; i < 50; ++i) REQUIRE(pattern.Draw(one) == pattern.Draw(other));
}

TEST_CASE("A wrong pattern is refused with the limit that it breaks") {
  const auto refuse = [](const std::string& text) {
    const auto pattern = PhrasePattern::Parse(text, {});
    REQUIRE(pattern.status().code() == absl::StatusCode::kInvalidArgument);
    return runtime::Message(pattern.status());
  };
  REQUIRE(refuse("set <a|b").find("partner") != std::string::npos);
  REQUIRE(refuse("set a]").find("partner") != std::string::npos);
  REQUIRE(refuse("[a>").find("partner") != std::string::npos);
  REQUIRE(refuse("a | b").find("outside") != std::string::npos);
  REQUIRE(refuse("<moon>").find("\"moon\"") != std::string::npos);
  REQUIRE(refuse(std::string(2001, 'x')).find("2000") != std::string::npos);
  REQUIRE(refuse("[[[[[[[[[x]]]]]]]]]").find("8 deep") != std::string::npos);
  std::string many;
  for (int i = 0; i < 350; ++i) many += "<a|b>";
  REQUIRE(refuse(many).find("1e+100") != std::string::npos);
}

TEST_CASE("A wrong list of synonyms is refused, naming file, line and list") {
  const doubles::TemporaryFolder folder;
  REQUIRE(LoadPhraseLists(folder.path())->empty());
  const auto refuse = [&](const std::string& text) {
    folder.Write("phrasings/lists.toml", text);
    const auto lists = LoadPhraseLists(folder.path());
    REQUIRE(lists.status().code() == absl::StatusCode::kInvalidArgument);
    return runtime::Message(lists.status());
  };
  REQUIRE(refuse("a = [\"x\"]\nb = 3\n").find("lists.toml:2 \"b\"") != std::string::npos);
  REQUIRE(refuse("a = [\"<b>\"]\nb = [\"x\"]\n").find("\"a\"") != std::string::npos);
  REQUIRE(refuse("a = ").find("lists.toml") != std::string::npos);
  folder.Write("phrasings/lists.toml", "b = [\"x\"]\na = [\"<b>\"]\n");
  REQUIRE(LoadPhraseLists(folder.path())->size() == 2);
}

}  // namespace
}  // namespace shoal::redfish
