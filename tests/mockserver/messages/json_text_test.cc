// SPDX-License-Identifier: Apache-2.0
#include "mockserver/messages/json_text.h"

#include <catch2/catch.hpp>
#include <limits>
#include <string>

#include "tests/mockserver/service/worlds.h"

namespace shoal::mockserver {
namespace {

std::string Text(const Json& json) {
  std::string text;
  AppendText(text, json);
  return text;
}

std::string Dumped(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

TEST_CASE("JSON is written as the library writes it, in every captured resource") {
  for (const std::string& name : CaptureNames()) {
    for (const World::Resource& resource : WorldOf(name)->resources()) {
      INFO(resource.uri);
      REQUIRE(Text(*resource.json) == Dumped(*resource.json));
    }
  }
}

TEST_CASE("JSON of odd texts and numbers is written as the library writes it") {
  const Json values = Json::array({"", "quote \" and \\", "line\nbreak\t", std::string("\0", 1),
                                   "\x7f", "f\xc3\xbcr", "\xf0\x9f\x98\x80", "cut \xc3", "\xff",
                                   std::numeric_limits<std::int64_t>::min(),
                                   std::numeric_limits<std::uint64_t>::max(), -0.0, 1e300, 0.1, 2.0,
                                   std::numeric_limits<double>::infinity(), true, false, nullptr});
  REQUIRE(Text(values) == Dumped(values));
  for (const Json& value : values) {
    INFO(Dumped(value));
    REQUIRE(Text(value) == Dumped(value));
  }
  const Json names = {{"f\xc3\xbcr \"x\"", Json::object()}, {"", Json::array()}};
  REQUIRE(Text(names) == Dumped(names));
}

TEST_CASE("Any character is written as the library writes it, wherever it stands") {
  for (int c = 0; c < 0x80; ++c) {
    for (std::size_t at = 0; at < 20; ++at) {
      std::string text(20, 'x');
      text[at] = static_cast<char>(c);
      INFO(c << " at " << at);
      REQUIRE(Text(Json(text)) == Dumped(Json(text)));
      REQUIRE(Text(Json(text.substr(0, at + 1))) == Dumped(Json(text.substr(0, at + 1))));
    }
  }
}

}  // namespace shoal::mockserver
