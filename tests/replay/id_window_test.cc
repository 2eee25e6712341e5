// SPDX-License-Identifier: Apache-2.0
#include "replay/id_window.h"

#include <catch2/catch.hpp>

namespace shoal::replay {
namespace {

UnrollId Id(std::uint64_t environment) { return {.environment_id = environment}; }

TEST_CASE("an id window recognises the last ids and forgets older ones") {
  IdWindow window(3);
  for (std::uint64_t i = 0; i < 3; ++i) REQUIRE(window.Add(Id(i)));
  REQUIRE_FALSE(window.Add(Id(0)));
  REQUIRE(window.Add(Id(3)));
  REQUIRE(window.size() == 3);
  REQUIRE_FALSE(window.Contains(Id(0)));
  REQUIRE(window.Contains(Id(1)));
  REQUIRE(window.Contains(Id(3)));
}

TEST_CASE("ids differ by each of their three parts") {
  IdWindow window(8);
  REQUIRE(window.Add({.environment_id = 1, .incarnation = 2, .first_sequence = 3}));
  REQUIRE(window.Add({.environment_id = 1, .incarnation = 2, .first_sequence = 4}));
  REQUIRE(window.Add({.environment_id = 1, .incarnation = 3, .first_sequence = 3}));
  REQUIRE(window.Add({.environment_id = 2, .incarnation = 2, .first_sequence = 3}));
  REQUIRE_FALSE(window.Add({.environment_id = 1, .incarnation = 2, .first_sequence = 3}));
}

TEST_CASE("an id window of no size remembers nothing") {
  IdWindow window(0);
  REQUIRE(window.Add(Id(1)));
  REQUIRE(window.Add(Id(1)));
  REQUIRE(window.size() == 0);
}

}  // namespace
}  // namespace shoal::replay
