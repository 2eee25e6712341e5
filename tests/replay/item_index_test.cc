// SPDX-License-Identifier: Apache-2.0
#include "replay/item_index.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>

#include "replay/id_set.h"
#include "tests/replay/values.h"

namespace shoal::replay {
namespace {

// Counts how often a set asks for the id of a place, as it does for each place that it moves.
struct CountingIdOf {
  UnrollId operator()(std::uint64_t place) const {
    ++*calls;
    return {.environment_id = place};
  }
  std::uint64_t* calls;
};

TEST_CASE("a set of many ids never moves many of them to take one more") {
  // A table adds an item while it holds the shard's lock.
  constexpr std::uint64_t kPlaces = 250'000;
  constexpr std::uint64_t kChanges = 250'000;
  std::uint64_t calls = 0;
  IdSet<std::uint64_t, CountingIdOf> set(CountingIdOf{&calls});
  std::uint64_t most = 0;
  for (std::uint64_t place = 0; place < kPlaces + kChanges; ++place) {
    const std::uint64_t before = calls;
    set.Add(place);
    most = std::max(most, calls - before);
    if (place >= kPlaces) set.Remove(place - kPlaces);
  }
  REQUIRE(most < kPlaces / 32);
  REQUIRE(set.Find({.environment_id = kChanges}) == kChanges);
  REQUIRE_FALSE(set.Find({.environment_id = kChanges - 1}));
}

TEST_CASE("an index finds the items that it has, and not those that were removed") {
  constexpr std::uint64_t kItems = 1000;
  StoredItems items;
  ItemIndex index(items);
  for (Handle handle = 0; handle < 2 * kItems; ++handle) {
    items.emplace(handle, StoredItem{.item = ItemNumber(handle, 0, 0)});
    index.Add(handle);
    if (handle < kItems) continue;
    index.Remove(handle - kItems);
    items.erase(handle - kItems);
  }
  REQUIRE(index.Find(ItemNumber(kItems)->id) == kItems);
  REQUIRE_FALSE(index.Find(ItemNumber(kItems - 1)->id));
}

}  // namespace
}  // namespace shoal::replay
