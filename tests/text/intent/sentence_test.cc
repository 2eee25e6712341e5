// SPDX-License-Identifier: Apache-2.0
#include "text/intent/sentence.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace shoal::intent {
namespace {

std::vector<std::string> TextsOf(const std::string& text) {
  const Sentence sentence(text);
  std::vector<std::string> texts;
  for (const Token& token : sentence.tokens()) texts.push_back(token.text);
  return texts;
}

using Texts = std::vector<std::string>;

TEST_CASE("Tokens are what stands between spaces, without the marks around it") {
  REQUIRE(TextsOf("Set it (please): now!") == Texts{"Set", "it", "please", "now!"});
  REQUIRE(TextsOf("  ").empty());
}

TEST_CASE("A quotation is one token, whatever is in it") {
  REQUIRE(TextsOf("tag 'Lab 7, row 3' and \"x\"") == Texts{"tag", "Lab 7, row 3", "and", "x"});
  REQUIRE(TextsOf("an open \" quote") == Texts{"an", "open", "quote"});
  REQUIRE(TextsOf("the server's tag") == Texts{"the", "server's", "tag"});
}

TEST_CASE("Pairs are split, addresses are not") {
  REQUIRE(TextsOf("user=kim pw:x7 root/secret a->b") ==
          Texts{"user", "kim", "pw", "x7", "root", "secret", "a", "to", "b"});
  REQUIRE(TextsOf("from http://a.b/c=d/e.iso.") == Texts{"from", "http://a.b/c=d/e.iso"});
}

TEST_CASE("A slash or an equals sign inside of a tag or a password splits nothing") {
  REQUIRE(TextsOf("tag INV/3007 pw Roter/Hut8") == Texts{"tag", "INV/3007", "pw", "Roter/Hut8"});
  const Speller speller({}, {"user"}, {}, {"winter"});
  const Sentence assigned("user=kim Winter=Coat Newton1687=F AssetTag=7 Numa=Disabled", &speller);
  Texts texts;
  for (const Token& token : assigned.tokens()) texts.push_back(token.text);
  REQUIRE(texts ==
          Texts{"user", "kim", "Winter=Coat", "Newton1687=F", "AssetTag", "7", "Numa", "Disabled"});
  REQUIRE(TextsOf("kim7/XK-9") == Texts{"kim7", "XK-9"});
  REQUIRE(TextsOf("Sesame-1/Poppy-2-z Administrator/Oak-7") ==
          Texts{"Sesame-1", "Poppy-2-z", "Administrator", "Oak-7"});
}

TEST_CASE("What somebody is quoted to have said is no value") {
  REQUIRE(TextsOf("he wrote \"turn it off and on\"") ==
          Texts{"he", "wrote", "turn", "it", "off", "and", "on"});
  REQUIRE(TextsOf("the tag \"Rack 4 row B slot 2\"") == Texts{"the", "tag", "Rack 4 row B slot 2"});
}

TEST_CASE("Addresses, hosts and versions are told apart by their form") {
  const Sentence sentence("http://h/x.iso 10.1.2.3 ntp1.lab.example v2.19 2.19.1 AB-12.7 RAID1");
  const std::vector<TokenKind> kinds = {TokenKind::kUrl,     TokenKind::kHost,    TokenKind::kHost,
                                        TokenKind::kVersion, TokenKind::kVersion, TokenKind::kWord,
                                        TokenKind::kWord};
  REQUIRE(sentence.tokens().size() == kinds.size());
  for (std::size_t i = 0; i < kinds.size(); ++i) REQUIRE(sentence.tokens()[i].kind == kinds[i]);
}

TEST_CASE("The number of a ticket is no part of what is asked") {
  REQUIRE(TextsOf("ticket 4711: boot it") == Texts{"boot", "it"});
  REQUIRE(TextsOf("INC-8812 - boot it") == Texts{"boot", "it"});
  REQUIRE(TextsOf("(REQ 5530) boot it") == Texts{"boot", "it"});
  REQUIRE(TextsOf("change 5 disks") == Texts{"change", "5", "disks"});
}

TEST_CASE("A slip of the finger is the same word, another word is not") {
  REQUIRE(IsNearly("sesion", "session"));
  REQUIRE(IsNearly("opertaor", "operator"));
  REQUIRE(IsNearly("passsword", "password"));
  REQUIRE_FALSE(IsNearly("boot", "book"));
  REQUIRE_FALSE(IsNearly("smart", "start"));
  REQUIRE_FALSE(IsNearly("on", "one"));
}

TEST_CASE("Only words that the speller does not know are slips of the finger") {
  const Speller speller({}, {"event"}, {}, {"evening"});
  const Sentence known("since evening", &speller);
  REQUIRE_FALSE(known.Says(1, "event"));
  const Sentence slipped("since evvent", &speller);
  REQUIRE(slipped.Says(1, "event"));
  REQUIRE(Sentence("boot securely", &speller).Says(1, "secur"));
}

TEST_CASE("A text of any length and bytes is a sentence") {
  REQUIRE(Sentence(std::string(100000, 'x')).tokens().size() == 1);
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
  REQUIRE_NOTHROW(Sentence(bytes));
  for (const char* odd : {"(", "('", "\"\"", "->", "=", "/", ":", "://", "....", "#", "((("}) {
    REQUIRE_NOTHROW(Sentence(odd));
  }
}

TEST_CASE("A dash or the box of a list ends a clause") {
  for (const char* const text : {"check it - switch it on", "check it \u2014 switch it on",
                                 "[ ] check it [ ] switch it on", "check it | switch it on"}) {
    const Sentence sentence(text);
    INFO(text);
    REQUIRE(sentence.words().size() == 5);
    REQUIRE(sentence.ClauseOf(1) != sentence.ClauseOf(2));
  }
}

}  // namespace
TEST_CASE("A question for information is told from one that asks for an action") {
  REQUIRE(Sentence("Is Secure Boot enabled?").is_question());
  REQUIRE(Sentence("ticket 4711: who are the operators?").is_question());
  REQUIRE_FALSE(Sentence("Is it possible to turn the server on?").is_question());
  REQUIRE_FALSE(Sentence("Is the server off? Turn it on.").is_question());
  REQUIRE_FALSE(Sentence("Can you turn the server on?").is_question());
  REQUIRE_FALSE(Sentence("is needed: power on").is_question());
}

TEST_CASE("A statement ends at a full stop or before an item of a list, and not at a comma") {
  const Sentence sentence("Delete x7, at once; enable y8. 2) z9 (b) w1");
  std::string statements;
  for (const Token& token : sentence.tokens()) statements += std::to_string(token.statement);
  REQUIRE(statements == "0000113344");
  REQUIRE(Sentence("Not yet: go").tokens()[1].before_colon);
  REQUIRE_FALSE(Sentence("Not yet: go").tokens()[0].before_colon);
}

TEST_CASE("A letter before a parenthesis begins an item where none is open") {
  const Sentence listed("Users: a) x7 - delete b) y8 - operator");
  REQUIRE(listed.tokens()[2].statement < listed.tokens()[5].statement);
  const Sentence inside("Users (x7 or b) are gone");
  REQUIRE(inside.tokens().front().statement == inside.tokens().back().statement);
}

TEST_CASE("Behind a password's name and a colon an equals sign is a part of the password") {
  const Speller speller({}, {}, {"key"}, {});
  const Sentence named("password: Key=Stone1", &speller);
  REQUIRE(named.tokens().back().text == "Key=Stone1");
  const Sentence assigned("Key=Stone1", &speller);
  REQUIRE(assigned.tokens().back().text == "Stone1");
}

TEST_CASE("A question at the beginning ends before what is said behind it") {
  REQUIRE(Sentence("Is the LED on? I am away.").clause_behind_question() == 1);
  REQUIRE(Sentence("Could you start it? I am away.").clause_behind_question() == 0);
  REQUIRE(Sentence("Is the LED on?").clause_behind_question() == 0);
}

}  // namespace shoal::intent
