// SPDX-License-Identifier: Apache-2.0
#include "replay/id_window.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <deque>

#include "platform/runtime/random.h"

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

TEST_CASE("an id window agrees with a list of the last ids, over many turns") {
  runtime::Random random(3);
  for (const std::size_t capacity : {1, 2, 7, 100}) {
    IdWindow window(capacity);
    std::deque<std::uint64_t> last;
    for (int i = 0; i < 2000; ++i) {
      const std::uint64_t id = random.Below(3 * capacity);
      const bool known = std::find(last.begin(), last.end(), id) != last.end();
      REQUIRE(window.Contains(Id(id)) == known);
      REQUIRE(window.Add(Id(id)) != known);
      if (!known) last.push_back(id);
      if (last.size() > capacity) last.pop_front();
      REQUIRE(window.size() == last.size());
    }
  }
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
