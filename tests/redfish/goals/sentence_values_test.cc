// SPDX-License-Identifier: Apache-2.0
#include "redfish/goals/sentence_values.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

namespace shoal::redfish {
namespace {

using Json = nlohmann::json;

const SentenceValue* FindValue(const std::vector<SentenceValue>& values, const Json& value) {
  const auto found = std::find_if(values.begin(), values.end(),
                                  [&](const SentenceValue& one) { return one.value == value; });
  return found == values.end() ? nullptr : &*found;
}

TEST_CASE("Each word of a sentence is a value without the punctuation around it") {
  const auto values = ValuesOf("Write \"ROW7-12\" (the asset tag), please.");
  for (const char* word : {"Write", "ROW7-12", "the", "asset", "tag", "please"}) {
    REQUIRE(FindValue(values, word) != nullptr);
  }
  REQUIRE(FindValue(values, "\"ROW7-12\"") == nullptr);
  REQUIRE(FindValue(ValuesOf("Insert http://a.example/b.iso."), "http://a.example/b.iso") !=
          nullptr);
}

TEST_CASE("An owner's name is a value without the s") {
  REQUIRE(FindValue(ValuesOf("Make omar17's password XK-9."), "omar17") != nullptr);
  REQUIRE(FindValue(ValuesOf("Make omar17\u2019s password XK-9."), "omar17") != nullptr);
  REQUIRE(FindValue(ValuesOf("The name is 's."), "s") != nullptr);
}

TEST_CASE("Two sentences of one phrasing describe their values alike, whatever these are") {
  const auto one = ValuesOf("Add operator omar17 with password XK-09-pw.");
  const auto other = ValuesOf("Add operator lea9 with password QZRT-7-ab.");
  REQUIRE(FindValue(one, "omar17")->description == FindValue(other, "lea9")->description);
  REQUIRE(FindValue(one, "XK-09-pw")->description == FindValue(other, "QZRT-7-ab")->description);
  REQUIRE(FindValue(one, "omar17")->description != FindValue(one, "XK-09-pw")->description);
  REQUIRE(FindValue(one, "omar17")->description.find("after add operator before with") !=
          std::string::npos);
}

TEST_CASE("The name of a property is described by its words, and is no plain word") {
  const auto values = ValuesOf("Change SetupPassword from XK-09 to PROX");
  REQUIRE(FindValue(values, "SetupPassword")->description ==
          "word SetupPassword after change before from");
  REQUIRE(FindValue(values, "SetupPassword")->is_literal);
  REQUIRE(FindValue(values, "PROX")->description == "word PROX after value to before nothing");
}

TEST_CASE("A URL is described by the kind of file that it names, whatever its host is") {
  const std::string sentence =
      "BIOS from https://a-12.example/p/flash.fwpkg?key=a/b.iso, boot http://10.0.0.1/i.ISO, "
      "events to http://b7.example:8080/in and http://c.example";
  const auto values = ValuesOf(sentence);
  const auto begins = [&](const char* url, const char* description) {
    REQUIRE(FindValue(values, url) != nullptr);
    REQUIRE(FindValue(values, url)->description.starts_with(description));
  };
  begins("https://a-12.example/p/flash.fwpkg?key=a/b.iso", "value url file after bios from");
  begins("http://10.0.0.1/i.ISO", "value url image after value boot");
  begins("http://b7.example:8080/in", "value url after events to");
  begins("http://c.example", "value url after value and");
}

TEST_CASE("Numbers are values in figures and in words") {
  const auto values = ValuesOf("Lock an account after five failures for 30 seconds");
  REQUIRE(FindValue(values, 5) != nullptr);
  REQUIRE(FindValue(values, 30) != nullptr);
  REQUIRE(FindValue(values, "30") != nullptr);
}

TEST_CASE("What is assigned to a name is a value, and an address with a query stays whole") {
  const auto values = ValuesOf("Hi, AssetTag=DC-14-66999 and LED = on, see http://a.example/?b=c");
  REQUIRE(FindValue(values, "DC-14-66999") != nullptr);
  REQUIRE(FindValue(values, "DC-14-66999")->description.find("after hi assettag before and") !=
          std::string::npos);
  REQUIRE(FindValue(values, "AssetTag") != nullptr);
  REQUIRE(FindValue(values, "AssetTag=DC-14-66999") != nullptr);
  REQUIRE(FindValue(ValuesOf("(AssetTag=DC-14)"), "DC-14") != nullptr);
  REQUIRE(FindValue(values, "http://a.example/?b=c") != nullptr);
  REQUIRE(FindValue(ValuesOf("a= =b"), "b") == nullptr);
}

TEST_CASE("Values with commas or an and between them are a list as well") {
  const auto values = ValuesOf("Let NTPServers be a.example, b.example and 10.0.0.1 from now on");
  REQUIRE(FindValue(values, Json::array({"a.example", "b.example", "10.0.0.1"})) != nullptr);
  REQUIRE(FindValue(values, "b.example") != nullptr);
  // Plain words make no list.
  const auto plain = ValuesOf("Turn the chassis and the system on, please");
  REQUIRE(std::none_of(plain.begin(), plain.end(),
                       [](const SentenceValue& value) { return value.value.is_array(); }));
}

TEST_CASE("A sentence has a bounded number of values, and an empty one has none") {
  std::string longest;
  for (int i = 0; i < 1000; ++i) longest += "word" + std::to_string(i) + " ";
  REQUIRE(ValuesOf(longest).size() <= kMaximumSentenceValues);
  REQUIRE(ValuesOf("").empty());
  REQUIRE(ValuesOf(" ... ,,").empty());
}

TEST_CASE("A long sentence keeps what looks like a value, wherever it stands") {
  std::string sentence;
  for (int i = 0; i < 100; ++i) sentence += "please ";
  sentence += "name it omar17";
  const auto values = ValuesOf(sentence);
  REQUIRE(values.size() == kMaximumSentenceValues);
  REQUIRE(FindValue(values, "omar17") == &values.back());
  REQUIRE(FindValue(values, "name") == nullptr);
}

TEST_CASE("The words around values are told where several have to be told apart") {
  using Texts = std::vector<std::string>;
  REQUIRE(TextsAroundValues("Drop kim7, set omar17 to Operator.") ==
          Texts{"Drop", "set", "to Operator"});
  REQUIRE(TextsAroundValues("dc-1 becomes dc-2 within 5 minutes") ==
          Texts{"", "becomes", "within 5 minutes"});
  REQUIRE(TextsAroundValues("user=kim7 password=XK-9.") == Texts{"user", "password", ""});
  REQUIRE(TextsAroundValues("Delete kim7 within 5 minutes").empty());
  REQUIRE(TextsAroundValues("").empty());
}

TEST_CASE("Words are contained where they are not part of longer ones") {
  REQUIRE(ContainsWords("set tag on node 1", "node 1"));
  REQUIRE_FALSE(ContainsWords("set tag on node 12", "node 1"));
  REQUIRE_FALSE(ContainsWords("supernode", "node"));
}

}  // namespace
}  // namespace shoal::redfish
