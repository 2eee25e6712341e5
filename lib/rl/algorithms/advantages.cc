// SPDX-License-Identifier: Apache-2.0
#include "rl/algorithms/advantages.h"

#include <cstddef>

#include "rl/algorithms/gae.h"

namespace shoal::algorithms {
namespace {

// One column, cut to its length.
struct Column {
  std::vector<float> reward;
  std::vector<float> value;
  std::vector<float> discount;
  std::vector<float> trace;
  std::vector<float> weight;
};

Column Cut(const UnrollBatch& batch, std::size_t column, std::size_t length,
           const AdvantageOptions& options) {
  const auto columns = static_cast<std::size_t>(batch.columns);
  const auto scale = static_cast<float>(options.reward_scale);
  Column cut;
  for (std::size_t t = 0; t < length; ++t) {
    const std::size_t row = t * columns + column;
    const std::uint8_t flags = batch.flags[row];
    const std::uint8_t next = batch.flags[row + columns];
    const bool lost = (flags & kTruncated) != 0 && (next & kFinal) == 0;
    const bool ends = (flags & (kTerminated | kTruncated | kFinal)) != 0;
    cut.value.push_back(batch.value[row]);
    // A lost end: the reward that makes its advantage 0.
    cut.reward.push_back(lost ? batch.value[row] : scale * batch.reward[row]);
    const bool bootstraps = (flags & kTerminated) == 0 && !lost;
    cut.discount.push_back(bootstraps ? static_cast<float>(options.gamma) : 0.0F);
    cut.trace.push_back(ends ? 0.0F : static_cast<float>(options.lambda));
    cut.weight.push_back(lost || (flags & kFinal) != 0 ? 0.0F : batch.weight[row]);
  }
  cut.value.push_back(batch.value[length * columns + column]);
  return cut;
}

}  // namespace

Advantages EstimateAdvantages(const UnrollBatch& batch, const AdvantageOptions& options) {
  const auto columns = static_cast<std::size_t>(batch.columns);
  const std::size_t rows = static_cast<std::size_t>(batch.length) * columns;
  Advantages result{std::vector<float>(rows), std::vector<float>(rows), std::vector<float>(rows)};
  for (std::size_t column = 0; column < columns; ++column) {
    const std::int64_t length = batch.lengths.empty() ? batch.length : batch.lengths[column];
    const Column cut = Cut(batch, column, static_cast<std::size_t>(length), options);
    const std::vector<float> advantage = GeneralisedAdvantages(
        {.reward = cut.reward, .value = cut.value, .discount = cut.discount, .trace = cut.trace});
    for (std::size_t t = 0; t < advantage.size(); ++t) {
      const std::size_t row = t * columns + column;
      result.advantage[row] = advantage[t];
      result.target[row] = advantage[t] + cut.value[t];
      result.weight[row] = cut.weight[t];
    }
  }
  return result;
}

}  // namespace shoal::algorithms
