// SPDX-License-Identifier: Apache-2.0
#include "replay/client/shard_masses.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "replay/selectors/selector_kind.h"
#include "replay/shard.h"
#include "tests/replay/values.h"

namespace shoal::replay::client {
namespace {

constexpr double kExponent = 0.6;

// Real shards with items spread unevenly: the k-th has 3k + 5 of them, and priorities of its own
// size. Each shard's items are numbered from 0 as they came.
struct Shards {
  Shards(std::size_t count, SelectorKind kind) : masses(count, 5) {
    for (std::size_t at = 0; at < count; ++at) {
      shards.push_back(*Shard::Create({.tables = {{.sampler = kind,
                                                   .remover = SelectorKind::kFifo,
                                                   .priority_exponent = kExponent,
                                                   .max_times_sampled = 0,
                                                   .seed = at}},
                                       .contents = {}}));
      readers.push_back(*shards[at]->OpenReader());
      weights.emplace_back();
      for (std::uint64_t number = 0; number < 3 * at + 5; ++number) {
        auto item = ItemNumber(number);
        item->priority = 0.1F + static_cast<float>((7 * number + at * at) % 11);
        const double priority = item->priority;
        REQUIRE(shards[at]->Insert("unrolls", item).ok());
        const double weight = kind == SelectorKind::kUniform ? 1 : std::pow(priority, kExponent);
        weights[at].push_back(weight);
        sum += weight;
        least = std::min(least, weight);
        ++size;
      }
      masses.Set(at, shards[at]->MassOf("unrolls"));
    }
  }

  // Draws items as a sampler does, and calls visit(shard, number, odds) for each.
  template <typename Visit>
  void Draw(int draws, Visit visit) {
    constexpr int kCredit = 16;
    for (int drawn = 0; drawn < draws; drawn += kCredit) {
      std::vector<std::size_t> wanted(shards.size());
      for (int i = 0; i < kCredit; ++i) ++wanted[masses.Draw()];
      for (std::size_t at = 0; at < shards.size(); ++at) {
        if (wanted[at] == 0) continue;
        const SampleBatch batch = shards[at]->Sample("unrolls", readers[at], wanted[at], 1 << 20);
        REQUIRE(batch.samples.size() == wanted[at]);
        masses.Set(at, batch.left);
        for (const SampledItem& sample : batch.samples) {
          visit(at, sample.item->id.environment_id, masses.Of(at, sample.probability));
        }
      }
    }
  }

  std::vector<std::unique_ptr<Shard>> shards;
  std::vector<int> readers;
  // By shard and number.
  std::vector<std::vector<double>> weights;
  double sum = 0;
  double least = 1e9;
  std::size_t size = 0;
  ShardMasses masses;
};

TEST_CASE("shards of unequal masses are sampled like one table, a million times") {
  const std::size_t count = GENERATE(std::size_t{1}, std::size_t{3}, std::size_t{8});
  const SelectorKind kind = GENERATE(SelectorKind::kUniform, SelectorKind::kPrioritized);
  Shards shards(count, kind);
  std::vector<std::vector<int>> drawn;
  for (const auto& weights : shards.weights) drawn.emplace_back(weights.size());
  constexpr int kDraws = 1000000;
  // The largest relative error of a probability.
  double error = 0;
  shards.Draw(kDraws, [&](std::size_t at, std::uint64_t number, const ShardMasses::Odds& odds) {
    ++drawn[at][number];
    error =
        std::max(error, std::abs(odds.probability * shards.sum / shards.weights[at][number] - 1));
  });
  REQUIRE(error < 1e-9);
  double chi_square = 0;
  for (std::size_t at = 0; at < count; ++at) {
    for (std::size_t number = 0; number < drawn[at].size(); ++number) {
      const double mean = kDraws * shards.weights[at][number] / shards.sum;
      chi_square += std::pow(drawn[at][number] - mean, 2) / mean;
    }
  }
  // Mean and deviation of the distribution, and four deviations of room.
  const auto freedom = static_cast<double>(shards.size - 1);
  REQUIRE(chi_square <= freedom + 4 * std::sqrt(2 * freedom));
}

TEST_CASE("probabilities and importance weights are those of one table") {
  Shards shards(3, SelectorKind::kPrioritized);
  shards.Draw(200, [&](std::size_t at, std::uint64_t number, const ShardMasses::Odds& odds) {
    REQUIRE(odds.probability == Approx(shards.weights[at][number] / shards.sum));
    REQUIRE(odds.least_probability == Approx(shards.least / shards.sum));
    REQUIRE(odds.size == shards.size);
  });
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
