// SPDX-License-Identifier: Apache-2.0
#include "rl/estimators/elites.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "tests/rl/estimators/close.h"

namespace shoal::estimators {
namespace {

using Indices = std::vector<std::size_t>;

TEST_CASE("elites reach the percentile, which lies between two returns as in numpy") {
  // numpy.percentile([0 .. 10], 70) is 7.
  Floats returns;
  for (int i = 10; i >= 0; --i) returns.push_back(static_cast<float>(i));
  REQUIRE(Elites(returns, 70) == Indices{0, 1, 2, 3});
  REQUIRE(Elites(returns, 100) == Indices{0});
  REQUIRE(Elites(returns, 0).size() == 11);
  // numpy.percentile([1, 2, 3, 4], 70) is 3.1, of [1, 2, 3, 3, 4] it is 3.
  REQUIRE(Elites(Floats{1, 2, 3, 4}, 70) == Indices{3});
  REQUIRE(Elites(Floats{3, 1, 4, 2, 3}, 70) == Indices{0, 2, 4});
}

TEST_CASE("episodes that tie with the percentile are all elite") {
  REQUIRE(Elites(Floats{5, 1, 5, 5}, 90) == Indices{0, 2, 3});
}

TEST_CASE("where all returns are equal, all episodes are elite") {
  for (const float value : {0.0F, .1F, -1e30F, std::numeric_limits<float>::infinity()}) {
    REQUIRE(Elites(Floats(5, value), 70).size() == 5);
  }
}

TEST_CASE("a return that is not a number is never elite, and none is elite of none") {
  // The percentile is 3.1, as without it.
  REQUIRE(Elites(Floats{std::nanf(""), 1, 2, 3, 4}, 70) == Indices{4});
  REQUIRE(Elites(Floats{1, std::nanf(""), 2}, 0) == Indices{0, 2});
  REQUIRE(Elites(Floats{std::nanf("")}, 50).empty());
  REQUIRE(Elites({}, 50).empty());
}

}  // namespace
}  // namespace shoal::estimators
