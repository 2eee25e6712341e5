// SPDX-License-Identifier: Apache-2.0
// Comparison of sequences with numbers that were computed elsewhere.
#pragma once

#include <catch2/catch.hpp>
#include <cstddef>
#include <vector>

namespace shoal::estimators {

using Floats = std::vector<float>;

// Requires that each number differs from the expected one by at most `tolerance`, or by that part
// of it where it is greater than 1.
template <typename Numbers>
void RequireClose(const Numbers& got, const std::vector<double>& expected,
                  double tolerance = 1e-5) {
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    INFO("number " << i);
    REQUIRE(double{got[i]} == Approx(expected[i]).margin(tolerance).epsilon(tolerance));
  }
}

}  // namespace shoal::estimators
