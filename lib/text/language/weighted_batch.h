// SPDX-License-Identifier: Apache-2.0
// A batch of texts with the weight of each token as a target.
#pragma once

#include <vector>

#include "text/language/token_batch.h"

namespace shoal::language {

struct WeightedBatch {
  TokenBatch tokens;
  // [T], finite and not negative; empty for 1 everywhere. The first token of a sequence never
  // counts.
  std::vector<float> weights;
};

}  // namespace shoal::language
