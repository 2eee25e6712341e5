// SPDX-License-Identifier: Apache-2.0
#include "learner/unrolls/shared_records.h"

#include <catch2/catch.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/doubles/ranks.h"
#include "tests/doubles/temporary_folder.h"

namespace shoal::learner {
namespace {

TEST_CASE("ranks with folders of their own condemn what any of them condemned") {
  const doubles::TemporaryFolder folder;
  std::vector<std::optional<Quarantine>> ranks(3);
  for (std::size_t i = 0; i < 3; ++i) {
    ranks[i] = Quarantine::Read(folder.At("quarantine-" + std::to_string(i))).value();
  }
  const std::uint64_t most = ~std::uint64_t{0};
  const parameters::VersionRange both{.first = {1, 2}, .last = {1, 3}};
  const parameters::VersionRange last{.first = {4, most}, .last = {most, 0}};
  ranks[0]->Add(both);
  ranks[2]->Add(both);
  ranks[2]->Add(last);
  doubles::RunRanks(3, [&](std::size_t i, collectives::GradientReducer& reducer) {
    return ShareQuarantine(reducer, *ranks[i]);
  });
  for (const auto& rank : ranks) {
    REQUIRE(rank->ranges() == std::vector<parameters::VersionRange>{both, last});
  }
}

TEST_CASE("no rank takes for new what another one has logged in a folder of its own") {
  const doubles::TemporaryFolder folder;
  std::vector<std::unique_ptr<UnrollLedger>> ranks;
  for (int i = 0; i < 3; ++i) {
    ranks.push_back(
        UnrollLedger::Create({.folder = folder.At(std::to_string(i)), .rank = i}).value());
  }
  const std::uint64_t large = ~std::uint64_t{0};
  const std::vector<UnrollUse> first = {{{1, 2, 3}, 1}, {{large, large, 4}, 7}};
  const std::vector<UnrollUse> second = {{{5, 6, large}, 2}};
  REQUIRE(ranks[0]->Append(1, 1, first).ok());
  REQUIRE(ranks[1]->Append(1, 1, second).ok());
  doubles::RunRanks(3, [&](std::size_t i, collectives::GradientReducer& reducer) {
    return ShareLedger(reducer, *ranks[i]);
  });
  for (const auto& rank : ranks) {
    REQUIRE(rank->size() == 3);
    for (const UnrollUse& use : {first[0], first[1], second[0]}) REQUIRE(rank->Contains(use));
  }
}

TEST_CASE("the newest uses of a ledger are those that were added last, in order") {
  const doubles::TemporaryFolder folder;
  const auto ledger = UnrollLedger::Create({.folder = folder.path()}).value();
  for (std::uint64_t i = 0; i < 5; ++i) ledger->Add({{i, 0, 0}});
  REQUIRE(ledger->Newest(2) == std::vector<UnrollUse>{{{3, 0, 0}}, {{4, 0, 0}}});
  REQUIRE(ledger->Newest(9).size() == 5);
}

}  // namespace
}  // namespace shoal::learner
