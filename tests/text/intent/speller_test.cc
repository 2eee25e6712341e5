// SPDX-License-Identifier: Apache-2.0
#include "text/intent/speller.h"

#include <catch2/catch.hpp>

#include "text/intent/cue.h"

namespace shoal::intent {
namespace {

Speller OwnSpeller() {
  return Speller({{"pwr", "power"}, {"sb", "secure boot"}}, {"operator", "shutdown", "graceful"},
                 {"operate", "server"}, {"serves", "marble"});
}

TEST_CASE("A slip of the finger is corrected to the word that was meant") {
  const Speller speller = OwnSpeller();
  REQUIRE(speller.Meant("shutdwon") == "shutdown");
  REQUIRE(speller.Meant("Gracefull") == "graceful");
  REQUIRE(speller.Meant("shutdow") == "shutdown");
  REQUIRE(speller.Meant("zerver") == "server");
  // A goal is told by "operator" and not by "operate".
  REQUIRE(speller.Meant("operater") == "operator");
}

TEST_CASE("Right words, other words, values and short words stay as they are") {
  const Speller speller = OwnSpeller();
  for (const char* word :
       {"operator", "serves", "marble", "server1", "opera-tor", "umbrella", ""}) {
    INFO(word);
    REQUIRE_FALSE(speller.Meant(word).has_value());
  }
}

TEST_CASE("An abbreviation stands for all of its words") {
  const Speller speller = OwnSpeller();
  REQUIRE(speller.Meant("PWR") == "power");
  const Sentence sentence("sb on", &speller);
  REQUIRE(Cue("secure boot").IsAffirmed(sentence));
  REQUIRE(sentence.tokens().front().text == "sb");
}

}  // namespace
}  // namespace shoal::intent
