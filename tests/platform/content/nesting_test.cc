// SPDX-License-Identifier: Apache-2.0
#include "platform/content/nesting.h"

#include <catch2/catch.hpp>
#include <string>

namespace shoal::content {
namespace {

std::string Arrays(std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

TEST_CASE("A text nests as deep as its brackets stand inside one another") {
  REQUIRE_FALSE(NestsDeeperThan("1", 0));
  REQUIRE_FALSE(NestsDeeperThan(Arrays(3), 3));
  REQUIRE(NestsDeeperThan(Arrays(4), 3));
  REQUIRE(NestsDeeperThan(R"({"a":[{}]})", 2));
}

TEST_CASE("Values side by side do not nest") {
  std::string text = "[";
  for (int i = 0; i < 1000; ++i) text += "{\"a\":[]},";
  text += "0]";
  REQUIRE_FALSE(NestsDeeperThan(text, 3));
}

TEST_CASE("Brackets in strings do not nest, escaped quotes included") {
  REQUIRE_FALSE(NestsDeeperThan(R"(["[[[[\"[[[[", "\\"])", 1));
  REQUIRE(NestsDeeperThan(R"(["\\", [[]]])", 2));
}

TEST_CASE("Brackets that are never closed nest too") {
  REQUIRE(NestsDeeperThan(std::string(1000000, '['), kMaximumNesting));
}

}  // namespace
}  // namespace shoal::content
