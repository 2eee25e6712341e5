// SPDX-License-Identifier: Apache-2.0
#include "cli/results/aggregate.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

namespace shoal::cli {

TEST_CASE("the interquartile mean cuts a quarter off at either end, as scipy's trim_mean does") {
  REQUIRE(InterquartileMean({7}) == 7);
  REQUIRE(InterquartileMean({0, 10}) == 5);
  REQUIRE(InterquartileMean({100, 1, 3, 2}) == 2.5);
  REQUIRE(InterquartileMean({1, 2, 3, 4, 100}) == 3);
  REQUIRE(InterquartileMean({9, 2, 3, 4, 5, 6, 7, 8, 1, 1000}) == 5.5);
}

TEST_CASE("a bootstrap interval has the percentiles of all possible samples") {
  const std::vector<double> values = {1, 2, 4, 8};
  std::vector<double> all;
  for (int code = 0; code < 256; ++code) {
    std::vector<double> drawn;
    for (int i = 0, rest = code; i < 4; ++i, rest /= 4) {
      drawn.push_back(values[static_cast<std::size_t>(rest % 4)]);
    }
    all.push_back(InterquartileMean(drawn));
  }
  std::sort(all.begin(), all.end());
  const auto [low, high] = BootstrapInterval(values, 1);
  // Six of 256 samples are 2.3 %, and eight are 3.1 %.
  REQUIRE(low >= all[4]);
  REQUIRE(low <= all[9]);
  REQUIRE(high >= all[246]);
  REQUIRE(high <= all[251]);
  REQUIRE(BootstrapInterval(values, 1) == BootstrapInterval(values, 1));
  REQUIRE(BootstrapInterval({5}, 1) == std::pair(5.0, 5.0));
}

TEST_CASE("curves are compared where all have begun, and one that ended keeps its last value") {
  const CurveBand band = BandOf({{{0, 0}, {10, 10}}, {{2, 0}, {4, 20}}, {}}, 5);
  REQUIRE(band.mean.size() == 5);
  REQUIRE(band.interval.size() == 5);
  REQUIRE(band.mean[0] == std::pair(2.0, 1.0));
  REQUIRE(band.mean[1] == std::pair(4.0, 12.0));
  REQUIRE(band.mean[4] == std::pair(10.0, 15.0));
  REQUIRE(band.interval[4] == std::pair(10.0, 20.0));
  REQUIRE(BandOf({{}, {}}, 5).mean.empty());
  REQUIRE(BandOf({{{3, 1}}}, 5).mean == Curve{{3, 1}});
}

}  // namespace shoal::cli
