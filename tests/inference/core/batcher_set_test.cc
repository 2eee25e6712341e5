// SPDX-License-Identifier: Apache-2.0
#include "inference/core/batcher_set.h"

#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <utility>

#include "tests/inference/core/row_maker.h"

namespace shoal::inference {
namespace {

using testing::MakeRows;
using testing::RowSpec;

constexpr BatcherOptions kNoDelay = {.max_rows = 64, .max_delay = runtime::Duration::zero()};

std::vector<std::pair<std::uint64_t, std::uint64_t>> Taken(Batcher& batcher) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> taken;
  for (const Row& row : batcher.Take().rows) {
    taken.emplace_back(row.environment(), row.sequence());
  }
  return taken;
}

}  // namespace

TEST_CASE("All rows of an environment go to one batcher, in their order") {
  BatcherSet batchers(3, kNoDelay);
  batchers.SetPaused(false);
  std::vector<RowSpec> specs;
  for (std::uint64_t sequence = 0; sequence < 4; ++sequence) {
    for (const std::uint64_t environment : {7ULL, 5ULL, 6ULL, (1ULL << 63) + 1}) {
      specs.push_back({.environment = environment, .sequence = sequence});
    }
  }
  auto rows = MakeRows(specs);
  batchers.Add(rows);
  REQUIRE(rows.empty());
  std::set<std::uint64_t> seen;
  std::size_t count = 0;
  for (std::size_t i = 0; i < batchers.size(); ++i) {
    std::map<std::uint64_t, std::uint64_t> next;
    for (const auto& [environment, sequence] : Taken(batchers[i])) {
      REQUIRE(sequence == next[environment]++);
      ++count;
    }
    for (const auto& [environment, rows_of_it] : next) REQUIRE(seen.insert(environment).second);
  }
  REQUIRE(seen.size() == 4);
  REQUIRE(count == specs.size());
}

TEST_CASE("The environments of actors are divided evenly among batchers") {
  const std::size_t count = GENERATE(2, 3, 8);
  BatcherSet batchers(count, kNoDelay);
  // Two blocks of environments, as two actors have them.
  std::vector<RowSpec> specs;
  for (const std::uint64_t first : {0, 48}) {
    for (std::uint64_t i = 0; i < 24; ++i) specs.push_back({.environment = first + i});
  }
  auto rows = MakeRows(specs);
  batchers.Add(rows);
  for (std::size_t i = 0; i < count; ++i) REQUIRE(batchers[i].size() == 48 / count);
}

TEST_CASE("A batcher without room rejects its own rows and no others") {
  BatcherSet batchers(2, {.max_queued = 2});
  auto rows = MakeRows({{.environment = 0},
                        {.environment = 2},
                        {.environment = 1},
                        {.environment = 4},
                        {.environment = 6}});
  batchers.Add(rows);
  REQUIRE(rows.size() == 2);
  REQUIRE(rows[0].environment() == 4);
  REQUIRE(rows[1].environment() == 6);
  REQUIRE(batchers[1].size() == 1);
}

TEST_CASE("A wake and a pause reach every batcher") {
  BatcherSet batchers(2, kNoDelay);
  batchers.Wake();
  for (std::size_t i = 0; i < 2; ++i) REQUIRE(batchers[i].Take().woken);
  batchers.SetPaused(false);
  for (std::size_t i = 0; i < 2; ++i) REQUIRE_FALSE(batchers[i].paused());
}

}  // namespace shoal::inference
