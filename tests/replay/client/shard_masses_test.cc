// SPDX-License-Identifier: Apache-2.0
#include "replay/client/shard_masses.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <memory>
#include <vector>

#include "replay/selectors/selector_kind.h"

namespace shoal::replay::client {
namespace {

constexpr double kExponent = 0.6;

// Items spread unevenly: the k-th shard has 3k + 1 of them, and priorities of its own size.
struct Shards {
  Shards(std::size_t count, SelectorKind kind) : masses(count, 5) {
    for (std::size_t shard = 0; shard < count; ++shard) {
      selectors.push_back(MakeSelector(kind, {.priority_exponent = kExponent, .seed = shard}));
      for (Handle handle = 0; handle <= 3 * shard; ++handle) {
        const double priority = 0.1 + static_cast<double>((7 * handle + shard * shard) % 11);
        selectors[shard]->Insert(handle, priority);
        const double weight = kind == SelectorKind::kUniform ? 1 : std::pow(priority, kExponent);
        weights.push_back({shard, handle, weight});
        sum += weight;
      }
      masses.Set(shard, selectors[shard]->mass());
    }
  }

  struct Weight {
    std::size_t shard;
    Handle handle;
    double weight;
  };
  std::vector<std::unique_ptr<Selector>> selectors;
  std::vector<Weight> weights;
  double sum = 0;
  ShardMasses masses;
};

TEST_CASE("shards of unequal masses are sampled like one table, a million times") {
  const std::size_t count = GENERATE(std::size_t{1}, std::size_t{3}, std::size_t{8});
  const SelectorKind kind = GENERATE(SelectorKind::kUniform, SelectorKind::kPrioritized);
  Shards shards(count, kind);
  std::vector<std::vector<int>> drawn(count);
  for (std::size_t shard = 0; shard < count; ++shard) drawn[shard].resize(3 * shard + 1);
  constexpr int kDraws = 1000000;
  for (int i = 0; i < kDraws; ++i) {
    const std::size_t shard = shards.masses.Draw();
    ++drawn[shard][shards.selectors[shard]->Sample().handle];
  }
  double chi_square = 0;
  for (const Shards::Weight& one : shards.weights) {
    const double mean = kDraws * one.weight / shards.sum;
    chi_square += std::pow(drawn[one.shard][one.handle] - mean, 2) / mean;
  }
  // Mean and deviation of the distribution, and four deviations of room.
  const auto freedom = static_cast<double>(shards.weights.size() - 1);
  REQUIRE(chi_square <= freedom + 4 * std::sqrt(2 * freedom));
}

TEST_CASE("probabilities and importance weights are those of one table") {
  Shards shards(3, SelectorKind::kPrioritized);
  double least = 1;
  for (const Shards::Weight& one : shards.weights) least = std::min(least, one.weight / shards.sum);
  for (int i = 0; i < 200; ++i) {
    const std::size_t shard = shards.masses.Draw();
    const Choice choice = shards.selectors[shard]->Sample();
    const ShardMasses::Odds odds = shards.masses.Of(shard, choice.probability);
    for (const Shards::Weight& one : shards.weights) {
      if (one.shard != shard || one.handle != choice.handle) continue;
      REQUIRE(odds.probability == Approx(one.weight / shards.sum));
    }
    REQUIRE(odds.least_probability == Approx(least));
    REQUIRE(odds.size == shards.weights.size());
  }
}

TEST_CASE("an item of a shard that has lost its weight keeps a probability above 0") {
  ShardMasses masses(2, 1);
  masses.Set(0, Mass{.size = 4, .sum = 0, .least = 0});
  masses.Set(1, Mass{.size = 2, .sum = 8, .least = 3});
  const ShardMasses::Odds odds = masses.Of(0, 0.25);
  REQUIRE(odds.probability == 0.25);
  REQUIRE(odds.least_probability == 0.25);
}

TEST_CASE("the least probability of recent items is that of the oldest") {
  ShardMasses masses(1, 1);
  const auto recency = MakeSelector(SelectorKind::kRecency, {});
  for (Handle handle = 0; handle < 10; ++handle) recency->Insert(handle, 1);
  masses.Set(0, recency->mass());
  for (int i = 0; i < 100; ++i) {
    const ShardMasses::Odds odds = masses.Of(0, recency->Sample().probability);
    REQUIRE(odds.least_probability == Approx(0.01));
    REQUIRE(odds.probability >= odds.least_probability);
  }
}

TEST_CASE("a shard that is away, empty or without weight is never drawn") {
  ShardMasses masses(4, 1);
  REQUIRE(masses.Total().size == 0);
  masses.Set(0, Mass{.size = 5, .sum = 0, .least = 0});
  masses.Set(2, Mass{});
  masses.Set(3, Mass{.size = 2, .sum = 8, .least = 3});
  for (int i = 0; i < 1000; ++i) REQUIRE(masses.Draw() == 3);
  masses.Set(3, std::nullopt);
  for (int i = 0; i < 1000; ++i) REQUIRE(masses.Draw() == 0);
  REQUIRE(masses.Of(0, 0.2).probability == Approx(0.2));
  REQUIRE(masses.Of(0, 0.2).least_probability == Approx(0.2));
  masses.Set(1, Mass{.size = 15, .sum = 0, .least = 0});
  REQUIRE(masses.Of(0, 0.2).probability == Approx(0.05));
}

}  // namespace
}  // namespace shoal::replay::client
