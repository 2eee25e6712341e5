// SPDX-License-Identifier: Apache-2.0
#include "text/intent/cue.h"

#include <catch2/catch.hpp>

namespace shoal::intent {
namespace {

bool Says(const char* cue, const char* sentence) { return Cue(cue).IsAffirmed(Sentence(sentence)); }

TEST_CASE("A cue is one of several runs of words, in any ending") {
  REQUIRE(Says("asset tag|inventory number", "Set the AssetTag of it"));
  REQUIRE(Says("asset tag|inventory number", "the inventory numbers are wrong"));
  REQUIRE_FALSE(Says("asset tag|inventory number", "tag the asset"));
}

TEST_CASE("A cue without a word is never said") {
  REQUIRE_FALSE(Says("*", "turn on the box"));
  REQUIRE_FALSE(Says("* *|", "turn on the box"));
  REQUIRE(Says("*|turn on", "turn on the box"));
}

TEST_CASE("A gap stands for a few words in between") {
  REQUIRE(Says("turn * on", "turn on the box"));
  REQUIRE(Says("turn * on", "turn this old box back on"));
  REQUIRE_FALSE(Says("turn * on", "turn this very old and rather rusty box back on"));
}

TEST_CASE("A negated cue is not said, unless the cue does not mind") {
  REQUIRE_FALSE(Says("force", "shut it down without force"));
  REQUIRE_FALSE(Says("force", "do not force it off"));
  REQUIRE(Says("force", "force it off"));
  REQUIRE(Says("~ipmi", "we want no IPMI"));
}

TEST_CASE("A match says which words it covers") {
  const Sentence sentence("please set the asset tag");
  const auto match = Cue("asset tag").Find(sentence);
  REQUIRE(match.has_value());
  REQUIRE(match->begin == 3);
  REQUIRE(match->end == 5);
  REQUIRE_FALSE(Cue("").Find(sentence).has_value());
}

TEST_CASE("What is to be left alone is not said") {
  REQUIRE_FALSE(Says("nic firmware", "flash the BIOS and leave the NIC firmware alone"));
  REQUIRE_FALSE(Says("serial number", "the serial number is not to be touched"));
  REQUIRE_FALSE(Says("force * off", "a forced power-off has not been approved"));
  REQUIRE_FALSE(Says("force * off", "force off prohibited"));
  REQUIRE(Says("nic firmware", "leave the BIOS alone, flash the NIC firmware"));
  REQUIRE(Says("force * off", "force it off, the serial number is not to be touched"));
  REQUIRE(Says("force", "by force, not to be touched is the neighbour"));
  REQUIRE_FALSE(Says("serial number", "the serial number must not be changed"));
  REQUIRE(Says("firmware", "do not leave that very old firmware untouched"));
}

TEST_CASE("Two words of a cue may be written as one") {
  REQUIRE(Cue("asset tag").IsAffirmed(Sentence("change assettag to A-1")));
  REQUIRE(Cue("power * on").IsAffirmed(Sentence("poweron please")));
  REQUIRE(Cue("boot order first").IsAffirmed(Sentence("bootorder first")));
  REQUIRE_FALSE(Cue("power * on").IsAffirmed(Sentence("poweroff please")));
}

TEST_CASE("A negation reaches over a verb, and \"no\" only over what stands beside it") {
  REQUIRE_FALSE(Cue("permanent").IsAffirmed(Sentence("don't make it permanent")));
  REQUIRE(Cue("start").IsAffirmed(Sentence("it has no power, could someone start it")));
}

TEST_CASE("A gap ends with the clause, and before \"and\"") {
  REQUIRE_FALSE(Cue("delete * raid1").IsAffirmed(Sentence("delete the stripe and create a RAID1")));
  REQUIRE_FALSE(Cue("power * off").IsAffirmed(Sentence("it needs power, Telnet goes off")));
  REQUIRE(Cue("delete * raid1").IsAffirmed(Sentence("delete the old RAID1")));
}

TEST_CASE("A gap does not begin in the next clause") {
  REQUIRE_FALSE(
      Cue("remove * mirror").IsAffirmed(Sentence("stripe to be removed, mirror to be made")));
  REQUIRE(Cue("remove * mirror").IsAffirmed(Sentence("remove mirror and stripe")));
}

TEST_CASE("What is ruled out behind it is not said") {
  const Cue force("force");
  REQUIRE_FALSE(force.IsAffirmed(Sentence("a forced stop is not permitted")));
  REQUIRE_FALSE(force.IsAffirmed(Sentence("forced power-off is strictly prohibited")));
  REQUIRE(force.IsAffirmed(Sentence("force is not prohibited")));
  REQUIRE_FALSE(force.IsAffirmed(Sentence("forced off not permitted")));
  REQUIRE_FALSE(force.IsAffirmed(Sentence("force is not an option")));
  REQUIRE(force.IsAffirmed(Sentence("force it off, other ways are not permitted")));
}

TEST_CASE("What is ruled out is what stands right before it") {
  const Cue force("force|hard");
  for (const char* const text :
       {"shut down by force with no delay permitted", "turn it off hard as soft off is forbidden",
        "shut it down by force because waiting is not allowed",
        "shut it down by force while no login is allowed",
        "power it off by force and no questions are allowed",
        "force is not permitted to take a minute"}) {
    INFO(text);
    REQUIRE(force.IsAffirmed(Sentence(text)));
  }
}

TEST_CASE("A negation denies only what stands in its clause") {
  REQUIRE(Cue("ntp").IsAffirmed(Sentence("no telnet, ntp from a.example")));
  REQUIRE(Cue("shut").IsAffirmed(Sentence("not by force but shut it down")));
}

TEST_CASE("What is only told, judged or checked is no wish") {
  const Cue force("force");
  const auto tells = [](const Cue& cue, const std::string& text) {
    const Sentence sentence(text);
    return TellsState(sentence, *cue.Find(sentence));
  };
  REQUIRE(tells(force, "a forced stop would do harm"));
  REQUIRE(tells(force, "a forced one has broken it"));
  REQUIRE(tells(Cue("power * off"), "get this powered-off box going"));
  REQUIRE(tells(Cue("power * off"), "it is as dead as a doornail (powered off)"));
  REQUIRE_FALSE(tells(Cue("power * off"), "it should, as I said, be powered off"));
  REQUIRE(tells(Cue("locator"), "accepted when the locator shines"));
  REQUIRE(tells(Cue("system off"), "system off to system on"));
  REQUIRE(tells(Cue("off"), "it is off since noon"));
  REQUIRE_FALSE(tells(Cue("shutdown"), "a graceful shutdown would be nice"));
  REQUIRE_FALSE(tells(force, "accept it and force it off"));
  REQUIRE_FALSE(tells(force, "force it off"));
  REQUIRE_FALSE(tells(force, "forcing it has to happen"));
}

TEST_CASE("How things are is told from what they should become") {
  REQUIRE_FALSE(Cue("!switch * off").IsAffirmed(Sentence("somebody switched it off")));
  REQUIRE_FALSE(Cue("!power * off").IsAffirmed(Sentence("the host was powered off yesterday")));
  REQUIRE(Cue("!switch * off").IsAffirmed(Sentence("it has to be switched off")));
  REQUIRE(Cue("!switch * off").IsAffirmed(Sentence("please switch it off")));
  REQUIRE(Cue("switch * off").IsAffirmed(Sentence("somebody switched it off")));
}

}  // namespace
}  // namespace shoal::intent
