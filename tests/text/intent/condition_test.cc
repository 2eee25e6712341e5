// SPDX-License-Identifier: Apache-2.0
#include "text/intent/condition.h"

#include <catch2/catch.hpp>
#include <string>

#include "text/intent/clause.h"

namespace shoal::intent {
namespace {

// Returns whether `is` holds at the first token that is `word`.
template <typename Is>
bool At(const std::string& text, const std::string& word, const Is& is) {
  const Sentence sentence(text);
  for (std::size_t at = 0; at < sentence.tokens().size(); ++at) {
    if (LowerTextOf(sentence.tokens(), at) == word) return is(sentence, at);
  }
  return false;
}

bool IsOccasion(const std::string& text, const std::string& word, bool has_sequel) {
  return At(text, word, [has_sequel](const Sentence& sentence, std::size_t at) {
    return BeginsOccasion(sentence, at, has_sequel);
  });
}

TEST_CASE("An event behind a command is an occasion, whoever or whatever it waits for") {
  REQUIRE(IsOccasion("Shut the server down when the alarm sounds", "when", false));
  REQUIRE(IsOccasion("Shut the server down when Maria says so", "when", false));
  REQUIRE(IsOccasion("Power on the server the moment the alarm sounds", "moment", false));
  REQUIRE(IsOccasion("Power on the server only after the guests have left", "after", false));
  REQUIRE_FALSE(IsOccasion("Start it when the server has cooled down", "when", false));
  REQUIRE_FALSE(IsOccasion("It must be off when the electrician comes", "when", false));
}

TEST_CASE("A sequel waits for its own steps, and still not for others") {
  REQUIRE_FALSE(IsOccasion("Boot it once and eject it when the installer is done", "when", true));
  REQUIRE_FALSE(IsOccasion("Flash it and restart when it is ready", "when", true));
  REQUIRE(IsOccasion("Flash it when the alarm sounds", "when", true));
  REQUIRE(IsOccasion("Flash it once the vendor has called back", "once", true));
  const auto waits = [](const Sentence& sentence, std::size_t at) {
    return BeginsWait(sentence, at, true);
  };
  REQUIRE(At("Flash it as soon as the alarm sounds", "as", waits));
  REQUIRE_FALSE(At("Eject it as soon as the server has booted", "as", waits));
}

TEST_CASE("A clause of an event before a command is a condition") {
  const auto is_condition = [](const std::string& text, const std::string& word) {
    return At(text, word, BeginsCondition);
  };
  REQUIRE(is_condition("When Peter calls, power on the server", "when"));
  REQUIRE(is_condition("After the drill has ended, power on the server", "after"));
  REQUIRE_FALSE(is_condition("After the review: x7 has to go", "after"));
  REQUIRE_FALSE(is_condition("When I, kim, log in, it fails", "when"));
}

TEST_CASE("A need is a remark only about a step on the way") {
  REQUIRE(At("Flash it and reboot if it is needed", "if", IsRemark));
  REQUIRE_FALSE(At("Shut the server down if needed", "if", IsRemark));
  REQUIRE(At("Correct me if I am wrong, but it is ours", "if", IsRemark));
  REQUIRE(At("Unless I have got the wrong rack, shut it down", "unless", IsRemark));
  REQUIRE_FALSE(At("If I have got the wrong rack, shut it down", "if", IsRemark));
}

}  // namespace
}  // namespace shoal::intent
