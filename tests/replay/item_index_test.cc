// SPDX-License-Identifier: Apache-2.0
#include "replay/item_index.h"

#include <time.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>

#include "tests/replay/values.h"

namespace shoal::replay {
namespace {

// The processor time of this thread in milliseconds, which does not depend on what else runs.
double ProcessorMs() {
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return 1e3 * static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_nsec);
}

TEST_CASE("an index of many items never takes long to take one more") {
  // A table adds an item while it holds the shard's lock.
  constexpr std::uint64_t kItems = 250'000;
  constexpr std::uint64_t kChanges = 250'000;
  StoredItems items;
  ItemIndex index(items);
  double longest = 0;
  for (Handle handle = 0; handle < kItems + kChanges; ++handle) {
    items.emplace(handle, StoredItem{.item = ItemNumber(handle, 0, 0)});
    const double start = ProcessorMs();
    index.Add(handle);
    longest = std::max(longest, ProcessorMs() - start);
    if (handle < kItems) continue;
    index.Remove(handle - kItems);
    items.erase(handle - kItems);
  }
  REQUIRE(index.Find(ItemNumber(kChanges)->id) == kChanges);
  REQUIRE_FALSE(index.Find(ItemNumber(kChanges - 1)->id));
  REQUIRE(longest < 20);
}

}  // namespace
}  // namespace shoal::replay
