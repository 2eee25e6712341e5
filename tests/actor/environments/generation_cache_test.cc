// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/generation_cache.h"

#include <catch2/catch.hpp>

namespace shoal::actor {

TEST_CASE("Caches keep what was used last when they are full") {
  GenerationCache<int, int> cache(4);
  int made = 0;
  const auto find = [&](int key) {
    return cache.FindOrMake(
        key, [&] { return ++made, key * 10; }, [](int) { return std::size_t{1}; });
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

TEST_CASE("A cache holds as many values as fit into its bytes") {
  GenerationCache<int, int> cache(1000);
  const auto fill = [&cache](int from, std::size_t bytes) {
    for (int key = from; key < from + 100; ++key) {
      cache.FindOrMake(
          key, [key] { return key; }, [bytes](int) { return bytes; });
    }
    return cache.size();
  };
  REQUIRE(fill(0, 10) == 100);
  REQUIRE(fill(1000, 50) == 20);
  REQUIRE(fill(2000, 900) == 2);
}

}  // namespace shoal::actor
