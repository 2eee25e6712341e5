// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/generation_cache.h"

#include <catch2/catch.hpp>

namespace shoal::actor {

TEST_CASE("Caches keep what was used last when they are full") {
  GenerationCache<int, int> cache(4);
  int made = 0;
  const auto find = [&](int key) {
    return cache.FindOrMake(key, [&] { return ++made, key * 10; });
  };
  for (int key = 0; key < 100; ++key) {
    REQUIRE(find(key) == key * 10);
    REQUIRE(find(0) == 0);
    REQUIRE(cache.size() <= 4);
  }
  REQUIRE(made == 100);
  REQUIRE(find(50) == 500);
  REQUIRE(made == 101);
}

}  // namespace shoal::actor
