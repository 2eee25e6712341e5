// SPDX-License-Identifier: Apache-2.0
#include "platform/content/value_bytes.h"

#include <catch2/catch.hpp>
#include <map>
#include <vector>

#include "platform/runtime/random.h"

namespace shoal::content {
namespace {

using Json = nlohmann::json;

std::string BytesOf(const Json& value) {
  std::string bytes;
  ValueBytes().Append(bytes, value);
  return bytes;
}

// Makes small random values, so that equal and nearly equal ones are frequent.
Json DrawValue(runtime::Random& random, int depth) {
  static const std::vector<std::string> kNames = {"", "a", "ab", "Updated", "Name", "[", "s"};
  switch (random.Below(depth > 0 ? 9 : 7)) {
    case 0:
      return nullptr;
    case 1:
      return random.Below(2) == 0;
    case 2:
      return random.Below(3);
    case 3:
      return -static_cast<std::int64_t>(random.Below(3));
    case 4:
      return static_cast<double>(random.Below(3)) / 2;
    case 5:
    case 6:
      return kNames[random.Below(kNames.size())];
    case 7: {
      Json list = Json::array();
      for (auto left = random.Below(3); left > 0; --left)
        list.push_back(DrawValue(random, depth - 1));
      return list;
    }
    default: {
      Json object = Json::object();
      for (auto left = random.Below(3); left > 0; --left) {
        object[kNames[random.Below(kNames.size())]] = DrawValue(random, depth - 1);
      }
      return object;
    }
  }
}

TEST_CASE("Values with the same bytes have the same canonical text, others rarely") {
  runtime::Random random(7);
  std::map<std::string, std::string> text_of_bytes;
  for (int i = 0; i < 20000; ++i) {
    const Json value = DrawValue(random, 3);
    const std::string text = CanonicalJson(value, DefaultVolatileNames());
    REQUIRE(text_of_bytes.emplace(BytesOf(value), text).first->second == text);
  }
  REQUIRE(text_of_bytes.size() > 1000);
}

TEST_CASE("What is read again from its text has the same bytes, signs of integers aside") {
  const Json value = {{"a", {1, -1, 1.5, "x", nullptr, true}}, {"b", {{"c", Json::object()}}}};
  REQUIRE(BytesOf(Json::parse(value.dump())) == BytesOf(value));
  REQUIRE(BytesOf(std::int64_t{5}) == BytesOf(std::uint64_t{5}));
  REQUIRE(BytesOf(std::int64_t{-1}) != BytesOf(~std::uint64_t{0}));
}

TEST_CASE("Volatile members leave no bytes, at any depth; others of their shape do") {
  const Json value = {{"Name", "x"}, {"Parts", {{{"Id", "1"}}}}};
  Json later = value;
  later["@odata.etag"] = "W/\"2\"";
  later["Parts"][0]["DateTime"] = "2026-01-01T00:00:00Z";
  REQUIRE(BytesOf(later) == BytesOf(value));
  later["Parts"][0]["DateTame"] = 1;
  REQUIRE(BytesOf(later) != BytesOf(value));
}

TEST_CASE("Texts that hold what tags and lengths look like are told apart") {
  REQUIRE(BytesOf({"a", "b"}) != BytesOf({"ab"}));
  REQUIRE(BytesOf(Json::array({Json::array()})) != BytesOf(Json::array({"["})));
  REQUIRE(BytesOf(Json::parse("[[1],2]")) != BytesOf(Json::parse("[[1,2]]")));
}

}  // namespace
}  // namespace shoal::content
