// SPDX-License-Identifier: Apache-2.0
#include "text/intent/request.h"

#include <catch2/catch.hpp>
#include <string>

#include "tests/text/intent/shipped_parser.h"

namespace shoal::intent {
namespace {

TEST_CASE("What is undecided, or asks to be told, asks for no change") {
  for (const char* const text :
       {"Kindly inform us whether the server is switched on.", "Explain the boot order",
        "Is Secure Boot on?", "Leave the LED as it is", "Please enable Sriov, or perhaps not."}) {
    INFO(text);
    REQUIRE(AsksForNoChange(Sentence(text)));
  }
  REQUIRE_FALSE(AsksForNoChange(Sentence("Please enable Sriov")));
  REQUIRE_FALSE(AsksForNoChange(Sentence("Power it on no matter whether it is in use")));
}

TEST_CASE("A command that is denied or taken back asks for no change") {
  for (const char* const text :
       {"There is no need to flash the BIOS, thanks", "You must not reset the BIOS",
        "Under no circumstances may anybody shut it down", "I never asked you to mirror it",
        "Shut it down. Scratch that.", "Shut it down, wrong window", "Flash it. Just asking."}) {
    INFO(text);
    REQUIRE(AsksForNoChange(Sentence(text)));
  }
  for (const char* const text :
       {"Do not hesitate to flash the BIOS", "Do not shut it down hard but gently",
        "There is no need to wait, shut it down", "We only ask you to flash it",
        "Cancel that account", "Wait no longer and start it",
        "The wrong server was reset, start this one"}) {
    INFO(text);
    REQUIRE_FALSE(AsksForNoChange(Sentence(text)));
  }
}

TEST_CASE("A tag question or an expectation asks for no change") {
  for (const char* const text :
       {"The server should be off by now", "Should be shut down by now, was it",
        "It is on, isn't it? Thanks.", "They form a mirror, don't they?",
        "It is to be shut down, right?", "Not yet: shut it down",
        "The shutdown was done yesterday, just so you know", "I was about to shut it down",
        "We could have shut it down", "Keep it running, nobody is to shut it down",
        "Is the LED lit? I am too far away.", "Has it booted from http://a.example/b.iso once?",
        "Is it on, or has it been shut down?", "Should we shut it down?"}) {
    INFO(text);
    REQUIRE(AsksForNoChange(Sentence(text)));
  }
  for (const char* const text :
       {"Shut it down, will you?", "Machine off. Do it.", "Should be on by now: start it",
        "It should be on by now, please start it", "I was going to ask you to shut it down",
        "Bring it back, it was shut down", "Which one is it? Make its LED blink."}) {
    INFO(text);
    REQUIRE_FALSE(AsksForNoChange(Sentence(text)));
  }
}

TEST_CASE("A way to ask is no condition") {
  for (const char* const text : {"If you don't mind, shut the server down gracefully",
                                 "If it could be done, shut the server down gracefully",
                                 "It would be great if you shut the server down gracefully"}) {
    INFO(text);
    REQUIRE(ParserOf("dell-r750").Parse(text)->refusal.empty());
  }
}

TEST_CASE("A report of what was done asks for no change, beside a request it does not matter") {
  for (const char* const text :
       {"We reset the BIOS and restarted the server", "The server shut down last night",
        "Somebody deleted kim, made ada Operator", "The reset button is broken"}) {
    INFO(text);
    REQUIRE(AsksForNoChange(Sentence(text)));
  }
  for (const char* const text :
       {"Somebody reset the BIOS, flash it", "The server went down last night, start it",
        "The power button is broken so start the server"}) {
    INFO(text);
    REQUIRE_FALSE(AsksForNoChange(Sentence(text)));
  }
}

TEST_CASE("A piece of which no clause asks for anything only tells") {
  REQUIRE(OnlyTells("My machine won't start, nobody knows why it is so"));
  REQUIRE(OnlyTells("Hello, Telnet is open on the BMC"));
  REQUIRE_FALSE(OnlyTells("Thanks"));
  REQUIRE_FALSE(OnlyTells("My machine won't start, flash it"));
  REQUIRE_FALSE(OnlyTells("Turn on our server"));
}

TEST_CASE("A piece that points back has no thing of its own") {
  REQUIRE(PointsBack("switch such relics off"));
  REQUIRE(PointsBack("turn them off"));
  REQUIRE_FALSE(PointsBack("turn such a server off"));
  REQUIRE_FALSE(PointsBack("RAID1 on both disks"));
}

TEST_CASE("A question or a condition is no request") {
  REQUIRE(IsNoRequest("if the host is down"));
  REQUIRE(IsNoRequest("once the pump runs"));
  REQUIRE(IsNoRequest("is the LED on?"));
  REQUIRE_FALSE(IsNoRequest("boot once from the ISO"));
  REQUIRE_FALSE(IsNoRequest(""));
}

}  // namespace
}  // namespace shoal::intent
