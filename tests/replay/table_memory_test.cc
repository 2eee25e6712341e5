// SPDX-License-Identifier: Apache-2.0
// How much memory a table takes for its items.
#include <malloc.h>

#include <catch2/catch.hpp>
#include <cstddef>

#include "replay/table.h"
#include "tests/replay/values.h"

namespace shoal::replay {
namespace {

// The memory that was allocated and is not free, with what the allocator adds. 0 where another
// allocator takes the place of glibc's, as under a sanitizer.
std::size_t HeapBytes() {
  const auto heap = ::mallinfo2();
  return heap.uordblks + heap.hblkhd;
}

TEST_CASE("a table of 4 KB items takes at most a tenth more than their payloads") {
  // About 28 ids for each part of the set: half of the parts have just doubled.
  constexpr std::size_t kItems = 7200;
  constexpr std::size_t kPayload = 4096;
  ContentStore contents({});
  const auto table = *Table::Create({.sampler = SelectorKind::kUniform,
                                     .remover = SelectorKind::kFifo,
                                     .max_size = kItems,
                                     .max_times_sampled = 0},
                                    contents);
  const std::size_t before = HeapBytes();
  for (std::size_t i = 0; i < kItems; ++i) {
    auto item = ItemNumber(i, i / 64, kPayload);
    REQUIRE(table->Insert(item).ok());
  }
  REQUIRE(table->size() == kItems);
  const double taken = static_cast<double>(HeapBytes()) - static_cast<double>(before);
  REQUIRE(taken <= 1.1 * kItems * kPayload);
  // What the table counts for its items covers what they take.
  REQUIRE(taken <= static_cast<double>(table->stats().bytes));
}

}  // namespace
}  // namespace shoal::replay
