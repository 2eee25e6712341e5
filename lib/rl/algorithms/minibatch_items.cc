// SPDX-License-Identifier: Apache-2.0
#include "rl/algorithms/minibatch_items.h"

#include <numeric>

#include "platform/runtime/random.h"

namespace shoal::algorithms {

std::vector<std::int64_t> ItemsOf(const UnrollBatch& batch, std::span<const float> weight,
                                  bool by_column) {
  std::vector<std::int64_t> items;
  if (by_column) {
    items.resize(static_cast<std::size_t>(batch.columns));
    std::iota(items.begin(), items.end(), 0);
    return items;
  }
  for (std::size_t row = 0; row < weight.size(); ++row) {
    if (weight[row] > 0) items.push_back(static_cast<std::int64_t>(row));
  }
  return items;
}

std::vector<std::int64_t> Shuffled(std::vector<std::int64_t> items, std::uint64_t seed,
                                   const std::string& purpose, std::uint64_t number) {
  runtime::Random random(runtime::DeriveSeed(seed, purpose), number);
  runtime::Shuffle(std::span(items), random);
  return items;
}

std::span<const std::int64_t> PartOf(std::span<const std::int64_t> items, std::size_t m,
                                     std::size_t n) {
  const std::size_t begin = items.size() * m / n;
  return items.subspan(begin, items.size() * (m + 1) / n - begin);
}

}  // namespace shoal::algorithms
