// SPDX-License-Identifier: Apache-2.0
#include "text/lexical/text_object.h"

#include <catch2/catch.hpp>
#include <cstddef>
#include <string>

namespace shoal::tokens {
namespace {

TEST_CASE("A text is a candidate, a choice or a goal by its form") {
  REQUIRE(KindOf(R"({"method":"PATCH","uri":"/redfish/v1"})") == TextKind::kCandidate);
  REQUIRE(KindOf(R"({"body":{},"host":"2","method":"GET","uri":"/"})") == TextKind::kCandidate);
  REQUIRE(KindOf(R"({"choice":"value digits after from"})") == TextKind::kChoice);
  REQUIRE(KindOf(R"({"around":["drop","set"],"goal":"drop a, set b"})") == TextKind::kGoal);
}

TEST_CASE("An object that has more or less than these forms is a body") {
  REQUIRE(KindOf("{}") == TextKind::kBody);
  REQUIRE(KindOf(R"({"PowerState":"On"})") == TextKind::kBody);
  REQUIRE(KindOf(R"({"method":"PATCH","uri":1})") == TextKind::kBody);
  REQUIRE(KindOf(R"({"choice":"a","Name":"b"})") == TextKind::kBody);
  REQUIRE(KindOf(R"({"choice":1})") == TextKind::kBody);
  REQUIRE(KindOf(R"({"around":["drop"],"goal":"drop a","Name":"b"})") == TextKind::kBody);
  REQUIRE(KindOf(R"({"around":[1],"goal":"drop a"})") == TextKind::kBody);
}

TEST_CASE("What is no object that can be read is a sentence") {
  REQUIRE(KindOf("") == TextKind::kSentence);
  REQUIRE(KindOf("turn it on") == TextKind::kSentence);
  REQUIRE(KindOf(R"(["method","uri"])") == TextKind::kSentence);
  REQUIRE(KindOf(R"({"PowerState":)") == TextKind::kSentence);
  REQUIRE(KindOf(R"({"a":")" + std::string(std::size_t{1} << 20, 'x') + "\"}") ==
          TextKind::kSentence);
}

}  // namespace
}  // namespace shoal::tokens
