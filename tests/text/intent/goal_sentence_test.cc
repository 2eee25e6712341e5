// SPDX-License-Identifier: Apache-2.0
#include "text/intent/goal_sentence.h"

#include <catch2/catch.hpp>
#include <string>

#include "tests/doubles/temporary_folder.h"

namespace shoal::intent {
namespace {

// Reads what follows `[sentence.values.new]` in a goal with the values "old", a user, and "url".
absl::StatusOr<GoalSentence> RulesWith(const std::string& rule) {
  const doubles::TemporaryFolder folder;
  const auto goal =
      redfish::Goal::Load(folder.Write("goal.toml",
                                       "id = 1\nname = \"a\"\ntrain = [\"x\"]\nevaluate = [\"y\"]\n"
                                       "[[situations]]\nname = \"s\"\noptimum = 1\n"
                                       "[sentence.values.old]\nkind = \"user\"\n"
                                       "[sentence.values.url]\nkind = \"url\"\n"
                                       "[sentence.values.new]\n" +
                                           rule));
  REQUIRE(goal.ok());
  return GoalSentence::Read(**goal);
}

std::string ErrorOf(const std::string& rule) {
  const absl::Status status = RulesWith(rule).status();
  REQUIRE(absl::IsInvalidArgument(status));
  return runtime::Message(status);
}

TEST_CASE("A value may follow another one that has no form of its own either") {
  const auto rules = RulesWith("kind = \"user\"\nfollows = \"old\"\n");
  REQUIRE(rules.ok());
  for (const ValueRule& rule : rules->values()) {
    REQUIRE(rule.follows == (rule.name == "new" ? "old" : ""));
  }
  REQUIRE(ErrorOf("kind = \"user\"\nfollows = \"older\"\n") ==
          "goal a sentence: values.new cannot follow \"older\"");
  REQUIRE(ErrorOf("kind = \"user\"\nfollows = \"url\"\n").ends_with("cannot follow \"url\""));
  REQUIRE(ErrorOf("kind = \"version\"\nfollows = \"old\"\n").ends_with("cannot follow \"old\""));
}

TEST_CASE("A rule with a wrong kind or an unknown key is refused by name") {
  REQUIRE(ErrorOf("kind = \"colour\"\n").find("values.new: no kind \"colour\"") !=
          std::string::npos);
  REQUIRE(ErrorOf("kind = \"tag\"\nfolows = \"old\"\n").find("unknown key \"folows\"") !=
          std::string::npos);
}

}  // namespace
}  // namespace shoal::intent
