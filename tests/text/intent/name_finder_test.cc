// SPDX-License-Identifier: Apache-2.0
#include "text/intent/name_finder.h"

#include <catch2/catch.hpp>
#include <cstddef>
#include <string>
#include <vector>

namespace shoal::intent {
namespace {

ValueRule Rule(const std::string& kind, const std::vector<std::string>& before,
               const std::vector<std::string>& after = {}, const std::string& name = "") {
  ValueRule rule;
  rule.name = name.empty() ? kind : name;
  rule.kind = kind;
  for (const std::string& cue : before) rule.before.emplace_back(cue);
  for (const std::string& cue : after) rule.after.emplace_back(cue);
  return rule;
}

// Returns the texts of the tokens that the rules get, of all tokens of the sentence that are not
// among `words`; an empty text for none.
std::vector<std::string> Found(const std::string& text, const std::vector<ValueRule>& rules,
                               const WordSet& words, const WordSet& english = {}) {
  const Sentence sentence(text);
  std::vector<std::size_t> candidates;
  for (std::size_t i = 0; i < sentence.tokens().size(); ++i) {
    if (!words.contains(sentence.tokens()[i].text)) candidates.push_back(i);
  }
  std::vector<const ValueRule*> borrowed;
  for (const ValueRule& rule : rules) borrowed.push_back(&rule);
  std::vector<std::string> found;
  for (const auto& token : AssignNames(sentence, english, candidates, borrowed)) {
    found.push_back(token ? sentence.tokens()[*token].text : "");
  }
  return found;
}

using Texts = std::vector<std::string>;

const WordSet& Words() {
  static const WordSet kWords = {"add", "a",    "user", "with", "password", "the", "tag",
                                 "is",  "from", "to",   "for",  "and",      "of",  "make",
                                 "new", "old",  "be",   "drop", "operator", "set", "it"};
  return kWords;
}

TEST_CASE("A value is told by its shape where no cue stands beside it") {
  const std::vector<ValueRule> rules = {Rule("user", {}), Rule("password", {})};
  REQUIRE(Found("add kim7 and Xk-7!pq", rules, Words()) == Texts{"kim7", "Xk-7!pq"});
  REQUIRE(Found("add Xk-7!pq for kim7", rules, Words()) == Texts{"kim7", "Xk-7!pq"});
}

TEST_CASE("A cue beside a value counts more than its shape") {
  const std::vector<ValueRule> rules = {Rule("user", {"user"}), Rule("password", {"password"})};
  REQUIRE(Found("add user ab12cd with password kim77x", rules, Words()) ==
          Texts{"ab12cd", "kim77x"});
  REQUIRE(Found("password kim77x for user ab12cd", rules, Words()) == Texts{"ab12cd", "kim77x"});
}

TEST_CASE("Of two cues the closer one counts more, and one in another clause less") {
  const std::vector<ValueRule> rules = {Rule("tag", {"tag"})};
  REQUIRE(Found("tag of R8-12 is tag R7-12", rules, Words()) == Texts{"R7-12"});
  REQUIRE(Found("make it R7-12, the tag is R8-12", rules, Words()) == Texts{"R8-12"});
  REQUIRE(Found("tag R7-12 and tag, R8-12", rules, Words()) == Texts{"R7-12"});
}

TEST_CASE("A cue may stand behind its value") {
  const std::vector<ValueRule> rules = {Rule("tag", {}, {"be the tag"})};
  REQUIRE(Found("R7-12 is to be the tag of R8-12", rules, Words()) == Texts{"R7-12"});
  REQUIRE(Found("R7-12 for it, R8-12 be the tag", rules, Words()) == Texts{"R8-12"});
}

// Rules of one who is deleted, one who becomes an operator and one who is enabled.
std::vector<ValueRule> AuditRules() {
  std::vector<ValueRule> rules = {
      Rule("user", {"delete", "drop"}, {"to be delete", "delete"}, "Rogue"),
      Rule("user", {"operator"}, {"be operator", "operator"}, "Auditor"),
      Rule("user", {"enable"}, {"to be enable", "enable"}, "Keeper")};
  rules.front().shaped = true;
  return rules;
}

TEST_CASE("In a list of users a cue counts in its own statement, whichever end it has") {
  const WordSet words = {"To", "be", "deleted", "Operator", "enabled", "is", "the", "off"};
  REQUIRE(Found("To be deleted: x7. To be Operator: kim. To be enabled: lea.", AuditRules(),
                words) == Texts{"x7", "kim", "lea"});
}

TEST_CASE("A clause that points back speaks of the user before it") {
  const WordSet words = {"belongs",  "to",  "us",  "Delete", "him",    "her",    "make",
                         "Operator", "was", "off", "so",     "enable", "please", "is"};
  REQUIRE(Found("x7 belongs to us. Delete him. kim is Operator. lea was off, so enable her.",
                AuditRules(), words) == Texts{"x7", "kim", "lea"});
}

TEST_CASE("Who is to be deleted is the object of a deletion") {
  const WordSet words = {"Delete",  "the", "keys", "of",    "make", "Operator", "enable",
                         "may",     "Ask", "whom", "to",    "who",  "logs",     "stays",
                         "files",   "is",  "here", "leave", "it",   "deleted",  "delete",
                         "account", "kim", "lea",  "be"};
  for (const char* const text : {"Delete the keys of x7", "Ask x7 whom to delete",
                                 "x7 may delete files", "x7, who deleted the logs, stays",
                                 "x7 is here", "x7 is here, leave it", "Delete x7's keys"}) {
    INFO(text);
    REQUIRE(Found(text, AuditRules(), words).front().empty());
  }
  for (const char* const text :
       {"Delete x7", "Delete the account of x7", "x7: delete", "x7 is to be deleted"}) {
    INFO(text);
    REQUIRE(Found(text, AuditRules(), words).front() == "x7");
  }
}

TEST_CASE("Who stands right before a password is a user, also with a slash between them") {
  const std::vector<ValueRule> rules = {Rule("user", {}), Rule("password", {})};
  REQUIRE(Found("add zoe XK-9!a", rules, Words()) == Texts{"zoe", "XK-9!a"});
  REQUIRE(Found("add zoe / XK-9!a", rules, Words()) == Texts{"zoe", "XK-9!a"});
}

TEST_CASE("Small words between a cue and its value hardly count") {
  const std::vector<ValueRule> rules = {Rule("user", {"drop"})};
  REQUIRE(Found("drop the old account zombie", rules, {"drop", "the", "old", "account"}) ==
          Texts{"zombie"});
}

TEST_CASE("A point or an underscore inside makes a name of a plain word") {
  REQUIRE(Found("drop x_consult", {Rule("user", {"drop"})}, Words()) == Texts{"x_consult"});
  REQUIRE(Found("drop j.ortiz now", {Rule("user", {"drop"})}, {"drop", "now"}) == Texts{"j.ortiz"});
}

TEST_CASE("A tag that the sentence replaces is not the tag") {
  const std::vector<ValueRule> rules = {Rule("tag", {"tag"})};
  REQUIRE(Found("set the tag from R7-12 to R8-12", rules, Words()) == Texts{"R8-12"});
  REQUIRE(Found("the old R7-12, R8-12", rules, Words()) == Texts{"R8-12"});
}

TEST_CASE("A plain word is a value only beside a clear cue, and an English one less likely") {
  const std::vector<ValueRule> rules = {Rule("user", {"user|operator"})};
  REQUIRE(Found("add frank", rules, Words()) == Texts{""});
  REQUIRE(Found("add user frank", rules, Words()) == Texts{"frank"});
  REQUIRE(Found("drop operator mary and operator frank", rules, Words(), {"mary"}) ==
          Texts{"frank"});
}

TEST_CASE("No token is two values, and a sentence may lack one") {
  const std::vector<ValueRule> rules = {Rule("user", {"user"}),
                                        Rule("user", {"user"}, {}, "other:user")};
  REQUIRE(Found("drop user kim7", rules, Words()) == Texts{"", "kim7"});
  REQUIRE(Found("drop it", rules, Words()) == Texts{"", ""});
}

TEST_CASE("A value that mostly follows another stands behind it where nothing else tells") {
  ValueRule second = Rule("password", {}, {}, "second");
  const ValueRule first = Rule("password", {}, {}, "first");
  second.follows = "first";
  REQUIRE(Found("make Xk7aa Yk7bb", {first, second}, Words()) == Texts{"Xk7aa", "Yk7bb"});
  REQUIRE(Found("make Xk7aa Yk7bb", {second, first}, Words()) == Texts{"Yk7bb", "Xk7aa"});
  ValueRule cued = Rule("password", {"new"}, {}, "cued");
  cued.follows = "first";
  REQUIRE(Found("new Xk7aa for Yk7bb", {first, cued}, Words()) == Texts{"Yk7bb", "Xk7aa"});
}

TEST_CASE("What a token says is a value without the marks that belong to the sentence") {
  const auto name = [](const std::string& text, const char* kind, bool is_last) {
    return NameOf(Sentence(text).tokens().front(), kind, is_last);
  };
  REQUIRE(name("kim7's", "user", false) == "kim7");
  REQUIRE(name("kim7\u2019s", "user", false) == "kim7");
  REQUIRE(name("kim7's", "password", false) == "kim7's");
  REQUIRE(name("R7-12!", "tag", false) == "R7-12");
  REQUIRE(name("Xk7pq!", "password", true) == "Xk7pq!");
  REQUIRE(name("Xk-7pq!", "password", true) == "Xk-7pq");
  REQUIRE(name("Xk-7pq!", "password", false) == "Xk-7pq!");
  REQUIRE(name("\"Lab 7!\"", "tag", true) == "Lab 7!");
}

}  // namespace
}  // namespace shoal::intent
