// SPDX-License-Identifier: Apache-2.0
// A batch of texts, and how much each token of it counts as a target.
#pragma once

#include <vector>

#include "text/language/token_batch.h"

namespace shoal::language {

struct WeightedBatch {
  TokenBatch tokens;
  // [T], finite and not negative; empty: 1 for all. What stands first in its sequence never counts.
  std::vector<float> weights;
};

}  // namespace shoal::language
