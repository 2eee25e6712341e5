// SPDX-License-Identifier: Apache-2.0
// The items of a gradient step and their order: rows of a batch, or whole columns with a recurrent
// core. The functions are pure and free of torch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "rl/algorithms/unroll_batch.h"

namespace shoal::algorithms {

// Returns the rows (t * B + b) of positive weight in order, or all columns when `by_column`.
// `weight` is [T * B].
std::vector<std::int64_t> ItemsOf(const UnrollBatch& batch, std::span<const float> weight,
                                  bool by_column);

// Returns `items` in an order that is a function of (seed, purpose, number).
std::vector<std::int64_t> Shuffled(std::vector<std::int64_t> items, std::uint64_t seed,
                                   const std::string& purpose, std::uint64_t number);

// Returns part m of n parts of nearly equal size.
std::span<const std::int64_t> PartOf(std::span<const std::int64_t> items, std::size_t m,
                                     std::size_t n);

}  // namespace shoal::algorithms
