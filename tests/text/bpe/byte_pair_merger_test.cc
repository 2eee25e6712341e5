// SPDX-License-Identifier: Apache-2.0
#include "text/bpe/byte_pair_merger.h"

#include <catch2/catch.hpp>
#include <span>
#include <string>
#include <vector>

#include "platform/runtime/random.h"

namespace shoal::tokens {
namespace {

using Ids = std::vector<std::int32_t>;

// Merges by the definition, one merge at a time.
Ids MergeByHand(const MergeTable& table, Ids ids) {
  for (;;) {
    std::size_t best = ids.size();
    std::uint32_t rank = MergeTable::kNoRank;
    for (std::size_t i = 0; i + 1 < ids.size(); ++i) {
      const std::uint32_t here = table.Find(ids[i], ids[i + 1]).rank;
      if (here < rank) {
        rank = here;
        best = i;
      }
    }
    if (best == ids.size()) return ids;
    ids[best] = table.Find(ids[best], ids[best + 1]).merged;
    ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(best) + 1);
  }
}

// Returns a random table: ids below 4 are letters, and any two tokens may become one.
MergeTable RandomTable(runtime::Random& random) {
  std::vector<MergeRule> rules;
  std::int32_t next = 4;
  for (int i = 0; i < 40; ++i) {
    const auto draw = [&] {
      return static_cast<std::int32_t>(random.Below(static_cast<std::uint64_t>(next)));
    };
    const std::int32_t left = draw();
    const std::int32_t right = draw();
    rules.push_back({left, right, random.Below(4) == 0 ? draw() : next++});
  }
  runtime::Shuffle(std::span(rules), random);
  return MergeTable(std::move(rules));
}

TEST_CASE("the pair of lowest rank goes first, the leftmost of equals", "[byte_pair_merger]") {
  // The rules are 0 0 -> 1 and 1 0 -> 2.
  const MergeTable table({{0, 0, 1}, {1, 0, 2}});
  BytePairMerger merger;
  Ids ids = {9, 0, 0, 0};
  merger.Merge(table, 1, ids);
  REQUIRE(ids == Ids{9, 2});
}

TEST_CASE("short and long words are merged as the definition says", "[byte_pair_merger]") {
  runtime::Random random(3);
  BytePairMerger merger;
  for (int round = 0; round < 400; ++round) {
    const MergeTable table = RandomTable(random);
    for (const std::uint64_t limit : {5ULL, 33ULL, 34ULL, 200ULL}) {
      Ids word;
      const std::uint64_t size = 1 + random.Below(limit);
      while (word.size() < size) word.push_back(static_cast<std::int32_t>(random.Below(4)));
      const Ids expected = MergeByHand(table, word);
      merger.Merge(table, 0, word);
      REQUIRE(word == expected);
    }
  }
}

TEST_CASE("of equal rules the last counts", "[byte_pair_merger]") {
  const MergeTable table({{0, 1, 2}, {1, 1, 3}, {0, 1, 4}});
  REQUIRE(table.Find(0, 1).rank == 2);
  REQUIRE(table.Find(0, 1).merged == 4);
  REQUIRE(table.Find(1, 0).rank == MergeTable::kNoRank);
}

TEST_CASE("a megabyte of one letter is merged in no time", "[byte_pair_merger]") {
  std::vector<MergeRule> rules;
  for (std::int32_t i = 0; i < 8; ++i) rules.push_back({i, i, i + 1});
  const MergeTable table(std::move(rules));
  Ids ids(std::size_t{1} << 20, 0);
  BytePairMerger().Merge(table, 0, ids);
  REQUIRE(ids == Ids(std::size_t{1} << 12, 8));
}

}  // namespace
}  // namespace shoal::tokens
