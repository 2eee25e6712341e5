// SPDX-License-Identifier: Apache-2.0
#include "rl/algorithms/relabelling.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "rl/estimators/exploration_family.h"

namespace shoal::algorithms {

void RelabelPolicies(UnrollBatch& batch, std::int64_t members, double share,
                     const StepDraws& draws) {
  if (batch.columns == 0) return;
  const auto count = static_cast<std::size_t>(members);
  const auto columns = static_cast<std::size_t>(batch.columns);
  const std::size_t rows = static_cast<std::size_t>(batch.length + 1) * columns;
  const std::size_t size = batch.observation.size() / rows;
  const auto family = estimators::NguFamily(count, {.greatest_beta = 1});
  const std::vector<float> drawn = draws.Uniform("policies of unrolls", 2 * batch.columns);
  for (std::size_t column = 0; column < columns; ++column) {
    if (static_cast<double>(drawn[2 * column]) >= share) continue;
    const double place = static_cast<double>(drawn[2 * column + 1]) * static_cast<double>(members);
    const std::size_t member = std::min(static_cast<std::size_t>(place), count - 1);
    for (std::size_t row = column; row < rows; row += columns) {
      const auto observation = std::span(batch.observation).subspan(row * size, size);
      observation[estimators::kFactorPlace] = static_cast<float>(family[member].beta);
      const auto names = observation.last(count);
      std::fill(names.begin(), names.end(), 0.0F);
      names[member] = 1.0F;
    }
  }
}

}  // namespace shoal::algorithms
