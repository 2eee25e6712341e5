// SPDX-License-Identifier: Apache-2.0
#include "learner/unrolls/unroll_agreement.h"

#include <catch2/catch.hpp>
#include <string>

#include "tests/doubles/ranks.h"
#include "tests/doubles/temporary_folder.h"

namespace shoal::learner {
namespace {

constexpr std::uint64_t kLarge = 0xfedcba9876543210U;

struct Rank {
  std::vector<DecodedUnroll> unrolls;
  std::unique_ptr<UnrollLedger> ledger;
};

DecodedUnroll Unroll(std::uint64_t environment, std::uint64_t sequence) {
  DecodedUnroll unroll;
  unroll.key.id = {environment, kLarge, sequence};
  return unroll;
}

std::vector<UnrollUse> KeysOf(const Rank& rank) {
  std::vector<UnrollUse> keys;
  for (const DecodedUnroll& unroll : rank.unrolls) keys.push_back(unroll.key);
  return keys;
}

}  // namespace

TEST_CASE("what two ranks drew is the lower one's, and each knows what the others train") {
  const doubles::TemporaryFolder folder;
  std::vector<Rank> ranks(3);
  ranks[0].unrolls = {Unroll(1, 0), Unroll(2, kLarge)};
  ranks[1].unrolls = {Unroll(2, kLarge), Unroll(3, 7), Unroll(4, 0)};
  ranks[2].unrolls = {Unroll(4, 0), Unroll(1, 0)};
  for (int i = 0; i < 3; ++i) {
    ranks[static_cast<std::size_t>(i)].ledger =
        UnrollLedger::Create({.folder = folder.path(), .rank = i}).value();
  }
  doubles::RunRanks(3, [&](std::size_t i, collectives::GradientReducer& reducer) {
    return AgreeOnUnrolls(reducer, 4, *ranks[i].ledger, ranks[i].unrolls);
  });
  REQUIRE(KeysOf(ranks[0]) == std::vector<UnrollUse>{{{1, kLarge, 0}}, {{2, kLarge, kLarge}}});
  REQUIRE(KeysOf(ranks[1]) == std::vector<UnrollUse>{{{3, kLarge, 7}}, {{4, kLarge, 0}}});
  REQUIRE(ranks[2].unrolls.empty());
  REQUIRE(ranks[0].ledger->Contains({3, kLarge, 7}));
  REQUIRE(ranks[2].ledger->Contains({2, kLarge, kLarge}));
  REQUIRE_FALSE(ranks[0].ledger->Contains({1, kLarge, 0}));
  for (Rank& rank : ranks) REQUIRE(rank.ledger->Append(1, 1, KeysOf(rank)).ok());
}

TEST_CASE("a group of one keeps what it has") {
  collectives::SingleRank alone;
  const doubles::TemporaryFolder folder;
  const auto ledger = UnrollLedger::Create({.folder = folder.path()}).value();
  std::vector<DecodedUnroll> unrolls = {Unroll(1, 0)};
  REQUIRE(AgreeOnUnrolls(alone, 1, *ledger, unrolls).ok());
  REQUIRE(unrolls.size() == 1);
  REQUIRE(ledger->size() == 0);
}

}  // namespace shoal::learner
