// SPDX-License-Identifier: Apache-2.0
#include "platform/runtime/rendezvous_hashing.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <vector>

namespace shoal::runtime {
namespace {

constexpr std::uint64_t kKeys = 10000;

const std::vector<std::string> kNames = {"replay-0:5000", "replay-1:5000", "replay-2:5000",
                                         "replay-3:5000", "replay-4:5000", "replay-5:5000",
                                         "replay-6:5000", "replay-7:5000", "replay-8:5000"};

std::vector<Place> Places(std::size_t count) {
  std::vector<Place> places;
  for (std::size_t i = 0; i < count; ++i) places.push_back({.name = kNames[i]});
  return places;
}

TEST_CASE("a place that is added takes its share of the keys, and no other key moves") {
  for (const std::size_t count : {1, 2, 3, 8}) {
    const std::vector<Place> before = Places(count);
    const std::vector<Place> after = Places(count + 1);
    double moved = 0;
    for (std::uint64_t key = 0; key < kKeys; ++key) {
      const std::size_t home = *HomeOf(key, after);
      if (home == *HomeOf(key, before)) continue;
      REQUIRE(home == count);
      ++moved;
    }
    const double share = 1 / (static_cast<double>(count) + 1);
    const double deviation = std::sqrt(static_cast<double>(kKeys) * share * (1 - share));
    REQUIRE(std::abs(moved - static_cast<double>(kKeys) * share) < 4 * deviation);
  }
}

TEST_CASE("a place that closes gives up its keys alone, and gets them back") {
  const std::vector<Place> places = Places(5);
  std::vector<Place> closed = places;
  closed[2].open = false;
  for (std::uint64_t key = 0; key < kKeys; ++key) {
    const std::size_t home = *HomeOf(key, places);
    const std::size_t without = *HomeOf(key, closed);
    REQUIRE(without != 2);
    if (home != 2) REQUIRE(without == home);
  }
}

TEST_CASE("the order of places does not matter, and without an open one there is no home") {
  const std::vector<Place> places = Places(4);
  std::vector<Place> reversed(places.rbegin(), places.rend());
  for (std::uint64_t key = 0; key < 100; ++key) {
    REQUIRE(places[*HomeOf(key, places)].name == reversed[*HomeOf(key, reversed)].name);
  }
  for (Place& place : reversed) place.open = false;
  REQUIRE_FALSE(HomeOf(1, reversed));
}

}  // namespace
}  // namespace shoal::runtime
