// SPDX-License-Identifier: Apache-2.0
#include "rl/estimators/double_q.h"

#include <catch2/catch.hpp>

#include "tests/rl/estimators/close.h"

namespace shoal::estimators {
namespace {

TEST_CASE("the online network chooses, the target network values") {
  REQUIRE(DoubleQValue(Floats{1, 3, 2}, Floats{9, -1, 7}) == -1);
  REQUIRE(DoubleQTarget(2, .5, Floats{1, 3, 2}, Floats{9, -1, 7}) == 1.5);
}

TEST_CASE("of equally good actions the first is valued") {
  REQUIRE(DoubleQValue(Floats{1, 4, 4}, Floats{0, 5, 6}) == 5);
}

TEST_CASE("a terminated step is worth its reward") {
  REQUIRE(DoubleQTarget(2, 0, Floats{1, 3}, Floats{9, 100}) == 2);
}

}  // namespace
}  // namespace shoal::estimators
