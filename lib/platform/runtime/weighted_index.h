// SPDX-License-Identifier: Apache-2.0
// A draw by weights that are used once; weight_tree.h draws by weights that stay.
#pragma once

#include <cstddef>
#include <span>

namespace shoal::runtime {

// Returns an index with a probability in proportion to its weight, for `at` uniform in [0, 1). The
// last one with a weight gets what rounding leaves. REQUIRES: no weight is below 0, and one is
// above.
inline std::size_t WeightedIndex(std::span<const double> weights, double at) {
  double total = 0;
  for (const double weight : weights) total += weight;
  at *= total;
  std::size_t last = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] <= 0) continue;
    last = i;
    at -= weights[i];
    if (at < 0) break;
  }
  return last;
}

}  // namespace shoal::runtime
