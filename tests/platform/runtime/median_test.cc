// SPDX-License-Identifier: Apache-2.0
#include "platform/runtime/median.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstddef>
#include <random>
#include <vector>

namespace shoal::runtime {
namespace {

TEST_CASE("The median is the middle value, or the mean of the two middle ones") {
  REQUIRE(Median({3}) == 3);
  REQUIRE(Median({9, 1, 2}) == 2);
  REQUIRE(Median({4, 2}) == 3);
  REQUIRE(Median({1, 2, 4, 90}) == 3);
  REQUIRE(Median({-5, -5, -5, 7}) == -5);
}

TEST_CASE("The median of any numbers is the one that sorting them gives") {
  std::mt19937 random(1);
  std::uniform_int_distribution<int> number(-9, 9);
  for (std::size_t count = 1; count < 40; ++count) {
    std::vector<double> values(count);
    for (double& value : values) value = number(random);
    std::vector<double> sorted = values;
    std::sort(sorted.begin(), sorted.end());
    REQUIRE(Median(values) == (sorted[(count - 1) / 2] + sorted[count / 2]) / 2);
  }
}

}  // namespace
}  // namespace shoal::runtime
