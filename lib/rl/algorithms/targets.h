// SPDX-License-Identifier: Apache-2.0
// What the rows of a batch were worth: advantages for the policy and targets for the value.
//
// Pure functions over [T, B] arrays. The rules of proto/unroll.proto for ends of episodes are here
// and nowhere else: a TERMINATED row sees nothing behind it; a TRUNCATED row before a FINAL row
// bootstraps from V(final) and sees no further; a TRUNCATED row whose final observation was lost
// counts as if its value had come true, and has no weight; every other row at the end of its column
// bootstraps from the bootstrap row.
#pragma once

#include <span>
#include <vector>

#include "rl/algorithms/unroll_batch.h"
#include "rl/algorithms/vtrace.h"

namespace shoal::algorithms {

// A policy's view of a batch.
struct PolicyView {
  std::span<const float> log_probability;  // [T, B], of the rows' actions
  std::span<const float> value;            // [T+1, B]
};

// The behaviour policy's view, as it was recorded. Borrows the batch.
PolicyView BehaviourView(const UnrollBatch& batch);

struct Targets {
  std::vector<float> advantage;  // [T, B]
  std::vector<float> value;      // [T, B]
};

struct TargetOptions {
  double gamma = 0.99;
  // The factor on the trace within an episode: GAE's and V-trace's lambda.
  double lambda = 0.95;
  double reward_scale = 1.0;
};

// [T, B]: how much each row counts: the batch's weight, and 0 for FINAL rows, for rows past a
// column's length, and for TRUNCATED rows whose final observation was lost.
std::vector<float> RowWeights(const UnrollBatch& batch);

// Generalised advantages (Schulman et al. 2016); a value's target is advantage plus value. With
// lambda 1 targets are discounted returns. REQUIRES: batch.Validate accepted the batch.
Targets GeneralisedTargets(const UnrollBatch& batch, const PolicyView& view,
                           const TargetOptions& options);

// V-trace (Espeholt et al. 2018, equation 1) with the importance weights of `view` against the
// behaviour policy; the trace is cut where an episode ends. REQUIRES: as above.
Targets VtraceTargets(const UnrollBatch& batch, const PolicyView& view,
                      const TargetOptions& options, const VtraceOptions& clips);

}  // namespace shoal::algorithms
