// SPDX-License-Identifier: Apache-2.0
#include "platform/runtime/weighted_index.h"

#include <catch2/catch.hpp>
#include <vector>

namespace shoal::runtime {

TEST_CASE("an index is drawn in proportion to its weight, and never without one") {
  const std::vector<double> weights = {0, 1, 0, 3, 0};
  std::vector<int> drawn(weights.size(), 0);
  for (int i = 0; i < 400; ++i) ++drawn[WeightedIndex(weights, i / 400.0)];
  REQUIRE(drawn == std::vector<int>{0, 100, 0, 300, 0});
}

TEST_CASE("the last index with a weight gets what rounding leaves") {
  REQUIRE(WeightedIndex(std::vector<double>{0.1, 0.2, 0}, 1.0) == 1);
}

}  // namespace shoal::runtime
