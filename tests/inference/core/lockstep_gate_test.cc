// SPDX-License-Identifier: Apache-2.0
#include "inference/core/lockstep_gate.h"

#include <catch2/catch.hpp>

#include "tests/inference/core/row_maker.h"

namespace shoal::inference {
namespace {

using testing::MakeRow;

std::vector<std::pair<std::uint64_t, std::uint64_t>> Ids(const std::vector<Row>& rows) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ids;
  for (const Row& row : rows) ids.emplace_back(row.environment(), row.sequence());
  return ids;
}

TEST_CASE("A step waits for every environment and is sorted") {
  LockstepGate gate(2);
  gate.Add(MakeRow({.environment = 9, .sequence = 0, .flags = kFirst}));
  REQUIRE(gate.TakeStep({1, 1}).empty());
  gate.Add(MakeRow({.environment = 4, .sequence = 1, .flags = kFirst}));
  gate.Add(MakeRow({.environment = 4, .sequence = 0, .flags = kTerminated}));
  REQUIRE(Ids(gate.TakeStep({1, 1})) ==
          std::vector<std::pair<std::uint64_t, std::uint64_t>>{{4, 0}, {4, 1}, {9, 0}});
  REQUIRE(gate.TakeStep({1, 1}).empty());
}

TEST_CASE("An end row alone does not complete a step") {
  LockstepGate gate(1);
  gate.Add(MakeRow({.sequence = 0, .flags = kTerminated}));
  REQUIRE(gate.TakeStep({1, 1}).empty());
  gate.Add(MakeRow({.sequence = 1, .flags = kFirst}));
  REQUIRE(gate.TakeStep({1, 1}).size() == 2);
}

TEST_CASE("Who has delivered waits for the others, and all for a newer version") {
  LockstepGate gate(2);
  gate.Add(MakeRow({.environment = 1, .flags = kFirst}));
  gate.Add(MakeRow({.environment = 2, .flags = kFirst}));
  REQUIRE(gate.TakeStep({1, 1}).size() == 2);
  gate.Delivered(1);
  gate.Add(MakeRow({.environment = 1, .sequence = 1}));
  REQUIRE(gate.TakeStep({1, 1}).empty());
  gate.Add(MakeRow({.environment = 2, .sequence = 1}));
  REQUIRE(Ids(gate.TakeStep({1, 1})) ==
          std::vector<std::pair<std::uint64_t, std::uint64_t>>{{2, 1}});
  gate.Delivered(2);
  gate.Add(MakeRow({.environment = 2, .sequence = 2}));
  REQUIRE(gate.TakeStep({1, 1}).empty());
  REQUIRE(gate.size() == 2);
  REQUIRE(gate.TakeStep({1, 2}).size() == 2);
}

TEST_CASE("A round of several unrolls lets an environment go on until its share is complete") {
  LockstepGate gate(2, 2);
  for (const std::uint64_t environment : {1, 2}) {
    gate.Add(MakeRow({.environment = environment, .flags = kFirst}));
  }
  REQUIRE(gate.TakeStep({1, 1}).size() == 2);
  gate.Delivered(1);
  for (const std::uint64_t environment : {1, 2}) {
    gate.Add(MakeRow({.environment = environment, .sequence = 1}));
  }
  REQUIRE(gate.TakeStep({1, 1}).size() == 2);
  gate.Delivered(1);
  gate.Delivered(2);
  REQUIRE_FALSE(gate.RoundOver());
  for (const std::uint64_t environment : {1, 2}) {
    gate.Add(MakeRow({.environment = environment, .sequence = 2}));
  }
  REQUIRE(Ids(gate.TakeStep({1, 1})) ==
          std::vector<std::pair<std::uint64_t, std::uint64_t>>{{2, 2}});
  gate.Delivered(2);
  REQUIRE(gate.RoundOver());
  gate.Add(MakeRow({.environment = 2, .sequence = 3}));
  REQUIRE(gate.TakeStep({1, 1}).empty());
  REQUIRE(gate.TakeStep({1, 2}).size() == 2);
  REQUIRE_FALSE(gate.RoundOver());
}

TEST_CASE("The first round has a share of its own, and so has one that starts afresh") {
  LockstepGate gate(1, 1, 2);
  std::uint64_t sequence = 0;
  const auto steps = [&](const parameters::Version& version) {
    gate.Add(MakeRow({.sequence = sequence++}));
    return !gate.TakeStep(version).empty();
  };
  REQUIRE(steps({1, 0}));
  gate.Delivered(0);
  REQUIRE_FALSE(gate.RoundOver());
  REQUIRE(steps({1, 0}));
  gate.Delivered(0);
  REQUIRE(gate.RoundOver());
  REQUIRE_FALSE(steps({1, 0}));
  REQUIRE(steps({1, 1}));
  gate.Delivered(0);
  REQUIRE(gate.RoundOver());
  gate.StartAfresh();
  REQUIRE(steps({2, 0}));
  gate.Delivered(0);
  REQUIRE_FALSE(gate.RoundOver());
}

TEST_CASE("A round that starts afresh forgets who has delivered and gives back what is held") {
  LockstepGate gate(2);
  gate.Add(MakeRow({.environment = 1, .flags = kFirst}));
  gate.Add(MakeRow({.environment = 2, .flags = kFirst}));
  REQUIRE(gate.TakeStep({1, 5}).size() == 2);
  gate.Delivered(1);
  gate.Add(MakeRow({.environment = 1, .sequence = 1}));
  REQUIRE(Ids(gate.StartAfresh()) == std::vector<std::pair<std::uint64_t, std::uint64_t>>{{1, 1}});
  REQUIRE(gate.size() == 0);
  gate.Add(MakeRow({.environment = 1, .sequence = 1}));
  gate.Add(MakeRow({.environment = 2, .sequence = 1}));
  REQUIRE(gate.TakeStep({2, 0}).size() == 2);
}

}  // namespace
}  // namespace shoal::inference
