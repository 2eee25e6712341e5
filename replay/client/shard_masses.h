// SPDX-License-Identifier: Apache-2.0
// The masses of a table on all shards, by which a sampler draws the shard that gives the next item.
//
// A shard is drawn in proportion to the sum of its items' weights, and the shard draws an item in
// proportion to its weight. So an item has the probability weight / (sum of all shards), as in one
// table that holds the items of all of them. Where all weights are 0, items are alike.
//
// Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "platform/runtime/random.h"
#include "replay/selectors/selector.h"

namespace shoal::replay::client {

class ShardMasses {
 public:
  // What one draw is worth, taken over all shards.
  struct Odds {
    // The probability with which the item was drawn, and the least of all items.
    double probability = 1;
    double least_probability = 1;
    // The number of items on all shards.
    std::size_t size = 0;
  };

  ShardMasses(std::size_t shards, std::uint64_t seed) : masses_(shards), random_(seed) {}

  // One more shard, of which nothing is known.
  void Add() { masses_.emplace_back(); }
  // Nothing stands for a shard that is away, or whose table does not draw at random.
  void Set(std::size_t shard, const std::optional<Mass>& mass) { masses_[shard] = mass; }
  bool Has(std::size_t shard) const { return masses_[shard].has_value(); }
  // Returns true for a shard that is known to have something to draw.
  bool HasItems(std::size_t shard) const { return Has(shard) && masses_[shard]->size > 0; }
  // The mass of all shards together.
  Mass Total() const;

  // Returns the shard to take the next item from. REQUIRES: Total().size > 0.
  std::size_t Draw();
  // The odds of an item that `shard` drew with `probability` from its own. REQUIRES: Has(shard).
  Odds Of(std::size_t shard, double probability) const;

 private:
  // The shard's share of all draws.
  double Share(std::size_t shard, const Mass& total) const;

  std::vector<std::optional<Mass>> masses_;
  runtime::Random random_;
};

}  // namespace shoal::replay::client
