// SPDX-License-Identifier: Apache-2.0
// What a gradient step is made of: rows of a batch, or with a recurrent core whole columns, and
// their order. Pure functions; none shows torch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "rl/algorithms/unroll_batch.h"

namespace shoal::algorithms {

// Rows (t * B + b) of positive weight in order; all columns when `by_column`. `weight` [T * B].
std::vector<std::int64_t> ItemsOf(const UnrollBatch& batch, std::span<const float> weight,
                                  bool by_column);

// The same in an order that is a function of (seed, purpose, number).
std::vector<std::int64_t> Shuffled(std::vector<std::int64_t> items, std::uint64_t seed,
                                   const std::string& purpose, std::uint64_t number);

// Part m of n, as even as can be.
std::span<const std::int64_t> PartOf(std::span<const std::int64_t> items, std::size_t m,
                                     std::size_t n);

}  // namespace shoal::algorithms
