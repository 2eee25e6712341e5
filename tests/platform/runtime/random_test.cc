// SPDX-License-Identifier: Apache-2.0
#include "platform/runtime/random.h"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <set>
#include <span>
#include <vector>

namespace shoal::runtime {

TEST_CASE("Philox gives the words of the paper's reference implementation") {
  REQUIRE(Philox({0, 0, 0, 0}, 0) ==
          std::array<std::uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  REQUIRE(Philox({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, 0xffffffffffffffff) ==
          std::array<std::uint32_t, 4>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  REQUIRE(Philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0x299f31d0a4093822) ==
          std::array<std::uint32_t, 4>{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("a draw depends on each of seed, environment, episode and step, and on nothing else") {
  REQUIRE(UniformAt(1, 2, 3, 4) == UniformAt(1, 2, 3, 4));
  const std::set<double> draws = {UniformAt(1, 2, 3, 4), UniformAt(2, 2, 3, 4),
                                  UniformAt(1, 3, 3, 4), UniformAt(1, 2, 4, 4),
                                  UniformAt(1, 2, 3, 5)};
  REQUIRE(draws.size() == 5);
}

TEST_CASE("seeds of different purposes differ") {
  REQUIRE(DeriveSeed(1, "act") != DeriveSeed(1, "reset"));
  REQUIRE(DeriveSeed(1, "act") != DeriveSeed(2, "act"));
}

TEST_CASE("uniform draws fill ten bins evenly") {
  Random random(7);
  std::array<int, 10> bins{};
  constexpr int kDraws = 100000;
  for (int i = 0; i < kDraws; ++i) ++bins[static_cast<std::size_t>(random.Uniform() * 10)];
  double chi_square = 0;
  for (const int count : bins) chi_square += std::pow(count - kDraws / 10.0, 2) / (kDraws / 10.0);
  REQUIRE(chi_square < 27.9);  // 99.9 % quantile with 9 degrees of freedom
}

TEST_CASE("bounded draws stay below the bound and reach every value") {
  Random random(7, 1);
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 1000; ++i) seen.insert(random.Below(7));
  REQUIRE(seen.size() == 7);
  REQUIRE(*seen.rbegin() == 6);
}

TEST_CASE("shuffling keeps every item, and its order is the one that files were made with") {
  std::vector<int> items = {0, 1, 2, 3, 4, 5, 6, 7};
  Random random(7);
  Shuffle(std::span(items), random);
  REQUIRE(items == std::vector<int>{6, 0, 5, 2, 1, 7, 3, 4});
  std::sort(items.begin(), items.end());
  REQUIRE(items == std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7});
}

TEST_CASE("each of the orders of three items comes as often") {
  Random random(7);
  std::map<std::vector<int>, int> orders;
  constexpr int kShuffles = 60000;
  for (int i = 0; i < kShuffles; ++i) {
    std::vector<int> items = {0, 1, 2};
    Shuffle(std::span(items), random);
    ++orders[items];
  }
  REQUIRE(orders.size() == 6);
  double chi_square = 0;
  for (const auto& [order, count] : orders) {
    chi_square += std::pow(count - kShuffles / 6.0, 2) / (kShuffles / 6.0);
  }
  REQUIRE(chi_square < 20.5);  // 99.9 % quantile with 5 degrees of freedom
}

TEST_CASE("normal draws have mean 0 and variance 1") {
  Random random(3);
  double sum = 0;
  double squares = 0;
  constexpr int kDraws = 100000;
  for (int i = 0; i < kDraws; ++i) {
    const double x = random.Normal();
    sum += x;
    squares += x * x;
  }
  REQUIRE(std::abs(sum / kDraws) < 0.015);
  REQUIRE(std::abs(squares / kDraws - 1) < 0.02);
}

}  // namespace shoal::runtime
