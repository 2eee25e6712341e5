// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <vector>

#include "rl/model/similarity_cache.h"
#include "tests/rl/model/small_policy.h"

namespace shoal::model {
namespace {

TEST_CASE("the similarity cache drops what was not used for longest and stays within its bytes") {
  const auto table = Table(5, {});
  const auto other = Table(5, {});
  SimilarityCache cache(3000);
  const auto row = std::make_shared<const GoalCosines>(
      GoalCosines{.cosine = std::vector<float>(200, 1.0F), .sums = {}});
  const auto key = [](std::uint8_t i) { return std::vector<std::uint8_t>(16, i); };
  cache.Insert(*table, key(1), row);
  cache.Insert(*table, key(2), row);
  REQUIRE(cache.Find(*table, key(1)) != nullptr);
  REQUIRE(cache.Find(*other, key(1)) == nullptr);
  cache.Insert(*table, key(3), row);
  cache.Insert(*table, key(4), row);
  REQUIRE(cache.bytes() <= 3000);
  REQUIRE(cache.Find(*table, key(2)) == nullptr);
  REQUIRE(cache.Find(*table, key(4)) != nullptr);
  REQUIRE(cache.hits() == 2);
  REQUIRE(cache.misses() == 2);
}

}  // namespace
}  // namespace shoal::model
