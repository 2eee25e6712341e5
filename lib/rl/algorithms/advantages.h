// SPDX-License-Identifier: Apache-2.0
// What each row of a batch was worth, by the rules of proto/unroll.proto for ends of episodes.
#pragma once

#include <vector>

#include "rl/algorithms/unroll_batch.h"

namespace shoal::algorithms {

struct Advantages {
  std::vector<float> advantage;  // [T, B]
  std::vector<float> target;     // [T, B], of the value: advantage + behaviour value
  // The batch's, and 0 for FINAL rows, for rows past a column's length, and for TRUNCATED rows
  // whose final observation was lost.
  std::vector<float> weight;  // [T, B]
};

struct AdvantageOptions {
  double gamma = 0.99;
  double lambda = 0.95;
  double reward_scale = 1.0;
};

// TERMINATED: nothing follows. TRUNCATED before a FINAL row: V(final) follows, its advantage does
// not. TRUNCATED without one: as if its value had come true, for the rows before it. REQUIRES: a
// batch that Validate accepted.
Advantages EstimateAdvantages(const UnrollBatch& batch, const AdvantageOptions& options);

}  // namespace shoal::algorithms
