// SPDX-License-Identifier: Apache-2.0
#include "platform/content/canonical_json.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

namespace shoal::content {
namespace {

using Json = nlohmann::json;

double FromBits(std::uint64_t bits) {
  double value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

TEST_CASE("The example of RFC 8785 section 3.2.2 comes out as printed there") {
  const Json value = Json::parse(R"({
    "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
    "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
    "literals": [null, true, false]})");
  REQUIRE(CanonicalJson(value) ==
          "{\"literals\":[null,true,false],\"numbers\":[333333333.3333333,1e+30,4.5,0.002,1e-27],"
          "\"string\":\"\xe2\x82\xac$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}");
}

TEST_CASE("Members are in the order of RFC 8785 section 3.2.3, by UTF-16 code units") {
  const Json value = Json::parse(R"({
    "\u20ac": "Euro Sign", "\r": "Carriage Return", "\ufb33": "Hebrew Letter Dalet With Dagesh",
    "1": "One", "\ud83d\ude00": "Emoji: Grinning Face", "\u0080": "Control",
    "\u00f6": "Latin Small Letter O With Diaeresis"})");
  const std::string text = CanonicalJson(value);
  std::size_t last = 0;
  for (const char* name : {"Carriage", "One", "Control", "Latin", "Euro", "Emoji", "Hebrew"}) {
    const std::size_t at = text.find(name);
    REQUIRE(at != std::string::npos);
    REQUIRE(at > last);
    last = at;
  }
}

TEST_CASE("Numbers are those of RFC 8785 appendix B") {
  const std::pair<std::uint64_t, const char*> kCases[] = {
      {0x0000000000000000, "0"},
      {0x8000000000000000, "0"},
      {0x0000000000000001, "5e-324"},
      {0x8000000000000001, "-5e-324"},
      {0x7fefffffffffffff, "1.7976931348623157e+308"},
      {0x4340000000000000, "9007199254740992"},
      {0xc340000000000000, "-9007199254740992"},
      {0x4430000000000000, "295147905179352830000"},
      {0x44b52d02c7e14af5, "9.999999999999997e+22"},
      {0x44b52d02c7e14af6, "1e+23"},
      {0x44b52d02c7e14af7, "1.0000000000000001e+23"},
      {0x444b1ae4d6e2ef4e, "999999999999999700000"},
      {0x444b1ae4d6e2ef4f, "999999999999999900000"},
      {0x444b1ae4d6e2ef50, "1e+21"},
      {0x3eb0c6f7a0b5ed8c, "9.999999999999997e-7"},
      {0x3eb0c6f7a0b5ed8d, "0.000001"},
      {0x41b3de4355555553, "333333333.3333332"},
      {0x41b3de4355555557, "333333333.33333343"},
      {0xbecbf647612f3696, "-0.0000033333333333333333"},
      {0x43143ff3c1cb0959, "1424953923781206.2"},
  };
  for (const auto& [bits, text] : kCases) REQUIRE(CanonicalJson(Json(FromBits(bits))) == text);
}

TEST_CASE("Whole numbers read as floats and as integers have one text") {
  REQUIRE(CanonicalJson(Json(1.0)) == CanonicalJson(Json(1)));
  REQUIRE(CanonicalJson(Json(-20.0)) == "-20");
}

TEST_CASE("Counters past 2^53 keep all their digits") {
  REQUIRE(CanonicalJson(Json(std::uint64_t{18446744073709551615u})) == "18446744073709551615");
  REQUIRE(CanonicalJson(Json(std::int64_t{9007199254740993})) == "9007199254740993");
}

TEST_CASE("What JSON lacks becomes null, invalid UTF-8 becomes U+FFFD") {
  REQUIRE(CanonicalJson(Json(std::numeric_limits<double>::infinity())) == "null");
  REQUIRE(CanonicalJson(Json(std::string("a\xff\xc3"))) == "\"a\xef\xbf\xbd\xef\xbf\xbd\"");
  REQUIRE(CanonicalJson(Json(std::string("\xed\xa0\x80"))) == "\"\xef\xbf\xbd\"");
}

TEST_CASE("Volatile properties are dropped at every depth, others stay") {
  const Json value = Json::parse(R"({
    "@odata.etag": "W/\"1\"", "Name": "a", "DateTime": "2024-01-01T00:00:00Z",
    "Readings": [{"ReadingTime": "x", "Reading": 4}]})");
  REQUIRE(CanonicalJson(value, DefaultVolatileNames()) ==
          R"({"Name":"a","Readings":[{"Reading":4}]})");
  REQUIRE(CanonicalJson(value, {"Name"}).find("DateTime") != std::string::npos);
}

TEST_CASE("Canonical text parsed again is canonical") {
  const Json value = Json::parse(R"({"b": [1.50, {"z": "\u0007\"", "a": {}}], "a": []})");
  const std::string text = CanonicalJson(value);
  REQUIRE(text == R"({"a":[],"b":[1.5,{"a":{},"z":"\u0007\""}]})");
  REQUIRE(CanonicalJson(Json::parse(text)) == text);
}

}  // namespace
}  // namespace shoal::content
